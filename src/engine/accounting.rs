//! What one call takes from the token quota: on admission, and once it has ended.
//!
//! Source of the formulas: Bedrock User Guide, "token burndown" (`quotas-token-burndown`), copy of 2026-10.

use serde::Serialize;

/// Mean tokens of one call.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CallTokens {
    /// Input tokens, without those read from or written to the prompt cache.
    pub input: f64,
    pub cache_write: f64,
    pub cache_read: f64,
    pub output: f64,
    /// The output limit that the call states, or the model's own.
    pub max_tokens: f64,
}

impl CallTokens {
    /// Tokens that a finished call has taken: *input plus cache writes plus output times burndown*. Cache reads are free.
    pub fn settled(&self, burndown: f64) -> f64 {
        self.output.mul_add(burndown, self.input + self.cache_write)
    }

    /// Tokens that a call takes when it starts: *input plus cache writes plus `max_tokens`*, the latter not multiplied.
    ///
    /// Whether cache reads are reserved is disputed: the User Guide's arithmetic leaves them out, AWS's agent toolkit
    /// counts them. `reserve_cache_reads` takes the careful side.
    pub fn reserved(&self, reserve_cache_reads: bool) -> f64 {
        let cache_read = if reserve_cache_reads { self.cache_read } else { 0.0 };
        self.input + self.cache_write + self.max_tokens + cache_read
    }

    /// Tokens as they are billed, before any burndown.
    pub fn raw(&self) -> f64 {
        self.input + self.cache_write + self.cache_read + self.output
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_guide_s_worked_scenarios() {
        // Sonnet 4: 1,000 in, 100 out at 5x settle as 1,500.
        let plain = CallTokens { input: 1000.0, cache_write: 0.0, cache_read: 0.0, output: 100.0, max_tokens: 500.0 };
        assert_eq!(plain.settled(5.0), 1500.0);
        assert_eq!(plain.raw(), 1100.0);
        // Scenario 1: in 3,000, read 4,000, write 1,000, out 1,000, max 32,000 at 5x: 36,000 at first, 9,000 at last.
        let cached =
            CallTokens { input: 3000.0, cache_write: 1000.0, cache_read: 4000.0, output: 1000.0, max_tokens: 32_000.0 };
        assert_eq!((cached.reserved(false), cached.settled(5.0)), (36_000.0, 9000.0));
        assert_eq!(cached.reserved(true), 40_000.0);
        // Scenario 2: the same with max 1,250: the settlement rises above the reservation.
        let tight = CallTokens { max_tokens: 1250.0, ..cached };
        assert_eq!((tight.reserved(false), tight.settled(5.0)), (5250.0, 9000.0));
    }
}
