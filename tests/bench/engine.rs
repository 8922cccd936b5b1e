//! The engine's own costs: a plan, and mapping a Region's rows to a model.

use forebay::engine::concurrency::sensitivity::sensitivity;
use forebay::engine::concurrency::{PlanInput, plan};
use forebay::engine::inputs::inputs;
use forebay::engine::quota_match::Matcher;
use forebay::engine::quota_name::{Metric, Scope};
use forebay::engine::snapshot::QuotaRow;
use forebay::sources::models::Models;
use forebay::sources::workload;

fn main() {
    divan::main();
}

fn image() -> PlanInput {
    let workload = workload::read("example:image-moderation".as_ref()).expect("the example is whole");
    let models = Models::default().of_vendor("anthropic");
    let profile = models.iter().find(|profile| profile.id == "anthropic.claude-sonnet-4-6");
    inputs(&workload, profile).expect("the example is complete").plan
}

#[divan::bench]
fn a_plan(bencher: divan::Bencher<'_, '_>) {
    let input = image();
    bencher.bench(|| plan(divan::black_box(&input)));
}

#[divan::bench]
fn its_sensitivity(bencher: divan::Bencher<'_, '_>) {
    let input = image();
    bencher.bench(|| sensitivity(divan::black_box(&input)));
}

/// Every name that was seen in AWS's lists, some 1,300.
#[divan::bench]
fn a_row_among_a_region_s(bencher: divan::Bencher<'_, '_>) {
    let rows: Vec<QuotaRow> = include_str!("../data/quota-names.tsv")
        .lines()
        .filter_map(|line| line.split('\t').nth(2))
        .map(|name| QuotaRow { code: name.to_owned(), name: name.to_owned(), ..QuotaRow::default() })
        .collect();
    let known = Models::default().of_vendor("anthropic");
    let matcher = Matcher::new("anthropic.claude-sonnet-4-6", &known);
    bencher.bench(|| matcher.find(divan::black_box(&rows), Scope::Geo, Metric::TokensPerMinute));
}
