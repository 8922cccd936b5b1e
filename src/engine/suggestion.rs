//! The chain to set instead, from the slowest call: design section 4.

use super::chain::{Chain, Context, MARGIN};

/// Settings that hold together, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suggestion {
    pub read_timeout_s: f64,
    pub client_attempts: u32,
    pub lambda_timeout_s: f64,
    pub visibility_timeout_s: f64,
    /// Whether Lambda allows the function timeout everywhere.
    pub fits_lambda: bool,
}

/// The next multiple of 5 seconds: nobody sets 87.5.
fn round_up(seconds: f64) -> f64 {
    (seconds / 5.0 - 1e-9).ceil() * 5.0
}

/// Read timeout = X and a quarter; one attempt, for the queue retries; function = rounds x R + B x o and a quarter;
/// visibility = function and window and a quarter. `None` where the slowest call or the batch is not known.
pub fn suggest(chain: &Chain<'_>, context: &Context<'_>) -> Option<Suggestion> {
    let slowest = context.slowest_call_s.as_ref()?.value;
    let read = round_up(slowest * MARGIN);
    let work = chain.rounds(context)?.mul_add(read, chain.overhead_s(context));
    let function = round_up(work * MARGIN);
    Some(Suggestion {
        read_timeout_s: read,
        client_attempts: 1,
        lambda_timeout_s: function,
        visibility_timeout_s: round_up((function + chain.window_s()) * MARGIN),
        fits_lambda: function <= f64::from(super::inputs::LAMBDA_MAXIMUM_S),
    })
}
