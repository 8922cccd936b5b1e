//! Parse, run, write, exit.

use std::process::ExitCode;

use clap::Parser as _;
use forebay::cli::Cli;
use forebay::commands::{render_error, run};
use forebay::exit::Exit;

mod world;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let world = world::read();
    match run(&cli, &world) {
        Ok(output) => world::write(&output.text).map_or(Exit::Failed, |()| output.exit).into(),
        Err(error) => {
            world::complain(&render_error(&error, cli.output.color, &world));
            Exit::Failed.into()
        }
    }
}
