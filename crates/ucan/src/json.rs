//! The form in which links are signed: DAG-JSON, without spaces, the keys of every map in the order
//! of their bytes.
//!
//! Written by hand over maps that sort themselves, so that no setting of a JSON library anywhere in
//! the build can change what a signature is compared with.

use crate::cbor::{Cid, Value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use std::fmt::Write as _;

/// Adds a value.
pub(crate) fn write(value: &Value, to: &mut String) {
    match value {
        Value::Null => to.push_str("null"),
        Value::Bool(is) => to.push_str(if *is { "true" } else { "false" }),
        Value::Integer(number) => {
            let _ = write!(to, "{number}");
        }
        Value::Float(number) => to.push_str(&serde_json::Value::from(*number).to_string()),
        Value::Text(text) => write_text(text, to),
        Value::Bytes(bytes) => {
            let _ = write!(to, "{{\"/\":{{\"bytes\":\"{}\"}}}}", STANDARD_NO_PAD.encode(bytes));
        }
        Value::Link(cid) => {
            let _ = write!(to, "{{\"/\":\"{}\"}}", cid_text(cid));
        }
        Value::List(list) => {
            to.push('[');
            for (at, one) in list.iter().enumerate() {
                if at > 0 {
                    to.push(',');
                }
                write(one, to);
            }
            to.push(']');
        }
        Value::Map(map) => {
            to.push('{');
            for (at, (key, one)) in map.iter().enumerate() {
                if at > 0 {
                    to.push(',');
                }
                write_text(key, to);
                to.push(':');
                write(one, to);
            }
            to.push('}');
        }
    }
}

fn write_text(text: &str, to: &mut String) {
    to.push_str(&serde_json::Value::from(text).to_string());
}

/// The name of a block as text: base32 in lower case, marked `b`.
pub(crate) fn cid_text(cid: &Cid) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut text = String::from("b");
    let (mut held, mut bits) = (0_u32, 0);
    for &byte in &cid.bytes {
        held = (held << 8) | u32::from(byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(ALPHABET[(held >> bits) as usize & 31]));
        }
        held &= (1 << bits) - 1;
    }
    if bits > 0 {
        text.push(char::from(ALPHABET[(held << (5 - bits)) as usize & 31]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn keys_are_sorted_by_their_bytes_at_every_level() {
        let map = |keys: &[&str]| {
            let entries = keys.iter().map(|key| ((*key).to_owned(), Value::Null));
            Value::Map(entries.collect::<BTreeMap<_, _>>())
        };
        let value = Value::List(vec![
            map(&["b", "aa", "B", "é"]),
            Value::Text("a\"\\\n\u{1}é\u{7f}".into()),
            Value::Bytes(vec![1, 2]),
            Value::Float(2.0),
            Value::Integer(-5),
        ]);
        let mut text = String::new();
        write(&value, &mut text);
        let expected = "[{\"B\":null,\"aa\":null,\"b\":null,\"é\":null},\
            \"a\\\"\\\\\\n\\u0001é\u{7f}\",{\"/\":{\"bytes\":\"AQI\"}},2.0,-5]";
        assert_eq!(text, expected);
    }
}
