//! `--live`: what Lambda and SQS have, checked by itself or against templates.

use anyhow::Result;

use crate::cli::CheckTimeoutsArgs;
use crate::commands::World;
use crate::engine::deployment::Deployment;

#[cfg(feature = "live")]
pub(super) fn read(args: &CheckTimeoutsArgs, world: &World) -> Result<Deployment> {
    use crate::commands::hinted;
    use crate::commands::live::Session;
    use crate::sources::aws::deployed::Select;

    if args.function.is_empty() && args.queue.is_empty() && args.stack.is_empty() {
        return Err(hinted(
            "--live: what is deployed is not named",
            "give `--function`, `--queue` or `--stack`, each as often as there are",
        ));
    }
    let select = Select { functions: args.function.clone(), queues: args.queue.clone(), stacks: args.stack.clone() };
    Session::open(&args.aws, args.region.clone(), world)?.deployed(&select)
}

#[cfg(not(feature = "live"))]
pub(super) fn read(_: &CheckTimeoutsArgs, _: &World) -> Result<Deployment> {
    Err(crate::commands::gather::no_live())
}
