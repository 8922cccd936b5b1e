//! Any bytes as a template of each dialect: read, or said to be unreadable; never a panic, and never without an end.

#![no_main]

use std::collections::BTreeMap;

use forebay::sources::iac::text::File;
use forebay::sources::iac::{Given, cloudformation, pulumi, serverless, terraform};
use forebay::sources::tree::Node;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let given = Given::default();
    let file = File::new("main.tf", text);
    let _ = terraform::read_folders(&BTreeMap::from([(String::new(), vec![file.clone()])]), &given);
    let _ = terraform::read_plan(&file);
    if let Ok(root) = Node::parse(text) {
        let _ = pulumi::read(&file, &root);
        let documents = BTreeMap::from([("t.yaml".to_owned(), (File::new("t.yaml", text), root))]);
        let _ = serverless::read("t.yaml", &documents, &given);
        let mut deployment = cloudformation::read(&documents, &given).deployment;
        deployment.join();
        let _ = deployment.chains().len();
    }
});
