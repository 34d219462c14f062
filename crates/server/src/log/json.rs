//! One event as one line of JSON, written straight into the line. The general formatter builds each
//! line from parts in several steps; at one line a request that was a fifth of the server's time.

use std::fmt::{self, Write as _};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Formats events as JSON objects.
pub(super) struct Json<Now>(pub(super) Now);

impl<S, N, Now, Time> FormatEvent<S, N> for Json<Now>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    Now: Fn() -> Time,
    Time: fmt::Display,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut line: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let about = event.metadata();
        let (now, level) = ((self.0)(), about.level());
        write!(line, r#"{{"timestamp":"{now}","level":"{level}""#)?;
        let mut fields = Fields { line: line.by_ref(), result: Ok(()) };
        event.record(&mut fields);
        fields.result?;
        writeln!(line, r#","target":"{}"}}"#, about.target())
    }
}

struct Fields<'a> {
    line: Writer<'a>,
    result: fmt::Result,
}

impl Fields<'_> {
    fn bare(&mut self, field: &Field, value: impl fmt::Display) {
        let line = &mut self.line;
        self.result = self.result.and_then(|()| write!(line, r#","{}":{value}"#, field.name()));
    }

    fn quoted(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        let line = &mut self.line;
        self.result = self.result.and_then(|()| {
            write!(line, r#","{}":""#, field.name())?;
            Escaped(&mut *line).write_fmt(value)?;
            line.write_char('"')
        });
    }
}

impl Visit for Fields<'_> {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.bare(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.bare(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.bare(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.quoted(field, format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.quoted(field, format_args!("{value:?}"));
    }
}

/// Keeps a value inside its quotes.
struct Escaped<'a, 'b>(&'a mut Writer<'b>);

impl fmt::Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut plain_from = 0;
        for (at, byte) in text.bytes().enumerate() {
            if byte >= 0x20 && byte != b'"' && byte != b'\\' {
                continue;
            }
            self.0.write_str(&text[plain_from..at])?;
            plain_from = at + 1;
            match byte {
                b'"' | b'\\' => write!(self.0, "\\{}", char::from(byte))?,
                _ => write!(self.0, "\\u{byte:04x}")?,
            }
        }
        self.0.write_str(&text[plain_from..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};
    use tracing_subscriber::layer::SubscriberExt;

    #[derive(Clone, Default)]
    struct Caught(Arc<Mutex<Vec<u8>>>);

    impl Write for Caught {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_is_one_json_object_whatever_is_in_it() {
        let caught = Caught::default();
        let writer = caught.clone();
        let layer = tracing_subscriber::fmt::layer()
            .event_format(Json(|| "now"))
            .with_writer(move || writer.clone());
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, || {
            let none: Option<u64> = None;
            tracing::warn!(count = 3, name = %"a \"b\"\n\\", none, done = true, "it \u{e9} is");
        });
        let text = String::from_utf8(caught.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.matches('\n').count(), 1);
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["level"], "WARN");
        assert_eq!(line["timestamp"], "now");
        assert_eq!(line["name"], "a \"b\"\n\\");
        assert_eq!(line["message"], "it \u{e9} is");
        assert_eq!((&line["count"], &line["done"]), (&3.into(), &true.into()));
        assert!(line.get("none").is_none());
    }
}
