//! Any bytes as source code of each language.

#![no_main]

use std::sync::Arc;

use forebay::sources::code;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let text: Arc<str> = Arc::from(text);
    for ending in ["py", "js", "ts", "java", "go", "rs", "cs"] {
        let entry = format!("app.{ending}");
        let _ = code::read(&entry, &|path| (path == entry).then(|| Arc::clone(&text)));
    }
});
