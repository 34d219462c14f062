//! Promise: text is text. Strings that have broken other programs are stored and given back byte
//! for byte, as content and as paths, or refused with the contract's error.

use loci_it::{Api, Setup, error_type, sha256};
use serde_json::json;

const INVALID: &str = "invalid_request_error";

#[test]
fn naughty_strings_come_back_as_they_went_in() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "naughty");
    let mut stored_as_path = 0;
    for (number, text) in NAUGHTY.iter().enumerate() {
        let memory = api.put(&format!("/as-content/{number}"), text);
        assert_eq!(memory.digest, sha256(text), "{text:?}");
        assert_eq!(api.content(&memory.id), *text);

        let path = format!("/as-path-{number}/{text}");
        let url = api.path("/memories");
        let reply = api.client.post(&url, &json!({"path": path, "content": "x"}));
        if reply.status == 200 {
            assert_eq!(reply.json()["path"], path.as_str());
            let found = api.memories().into_iter().any(|memory| memory.path == path);
            assert!(found, "{path:?} was stored but is not listed");
            stored_as_path += 1;
        } else {
            assert_eq!(
                (reply.status, error_type(&reply).as_deref()),
                (400, Some(INVALID)),
                "{text:?}"
            );
        }
    }
    assert!(stored_as_path > 20, "only {stored_as_path} were allowed as paths");
    let names = api.client.post("/v1/memory_stores", &json!({"name": "'; drop table memory; --"}));
    assert_eq!(names.ok()["name"], "'; drop table memory; --");
    server.stop();
    assert!(!setup.printed().contains("panicked"));
}

const NAUGHTY: [&str; 48] = [
    "",
    " ",
    "undefined",
    "null",
    "NaN",
    "-1e999",
    "0x0",
    "١٢٣",
    "../../../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%00",
    "%s%s%n%x",
    "${jndi:ldap://127.0.0.1/a}",
    "{{7*7}}",
    "$(touch /tmp/loci-was-here)",
    "`id`",
    "'; drop table memory; --",
    "\" or \"\"=\"",
    "1' or '1'='1",
    "_%_%",
    "*",
    "\" NEAR \"",
    "AND OR NOT NEAR(",
    "col:val^2",
    "<script>alert(1)</script>",
    "]]>",
    "<!--",
    "&amp;&#0;",
    "a\u{0}b",
    "a\r\nb",
    "\ttab",
    "\u{feff}bom",
    "\u{202e}right to left",
    "zero\u{200b}width",
    "e\u{301}",
    "é",
    "ﬀ ſ ß İ ı",
    "Ω≈ç√∫˜µ≤≥÷",
    "田中さんにあげて下さい",
    "مُنَاقَشَةُ",
    "👩‍👩‍👧‍👦 🇩🇪 ✋🏿",
    "𝕿𝖍𝖊",
    "Z̮̞̠͙͔ͅḀ̗̞͈̻̗Ḷ͙͎̯̹̞͓G̻O̭̗̮",
    "\u{fffe}\u{ffff}",
    "\u{10ffff}",
    "CON",
    "file.txt:stream",
    "a|b;c&d>e<f",
];
