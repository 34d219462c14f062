//! Python: plain writes, files replaced by a temporary one, updates in place.

use anyhow::Result;

use super::desk::Desk;

pub(super) fn write(desk: &mut Desk<'_>) -> Result<()> {
    desk.run(&[
        "python3",
        "-c",
        r"
import json, pathlib
with open('notes.md', 'w') as f:
    for n in range(100):
        f.write(f'line {n}\n')
        f.flush()
pathlib.Path('path.md').write_text('äöü\n', encoding='utf-8')
json.dump({'a': [1, 2]}, open('data.json', 'w'))
with open('notes.md', 'a') as f:
    f.write('last\n')
",
    ])?;
    let lines: String = (0..100).map(|n| format!("line {n}\n")).collect();
    desk.holds("notes.md", &(lines + "last\n"))?;
    desk.holds("path.md", "äöü\n")?;
    desk.holds("data.json", r#"{"a": [1, 2]}"#)?;
    desk.versions("notes.md", &["created", "modified"])?;
    desk.versions("path.md", &["created"])?;
    desk.versions("data.json", &["created"])
}

/// The careful way to save: a temporary file beside it, synced, put in its place.
pub(super) fn replace(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh("echo first > notes.md")?;
    let who = desk.who("notes.md")?;
    for (turn, sync) in [(1, true), (2, false)] {
        let script = format!(
            r"
import os, tempfile
fd, name = tempfile.mkstemp(dir='.')
with os.fdopen(fd, 'w') as f:
    f.write('turn {turn}\n')
    f.flush()
    {}
os.replace(name, 'notes.md')
",
            if sync { "os.fsync(f.fileno())" } else { "pass" }
        );
        desk.run(&["python3", "-c", &script])?;
        desk.holds("notes.md", &format!("turn {turn}\n"))?;
        desk.still("notes.md", who.as_ref())?;
    }
    desk.versions("notes.md", &["created", "modified", "modified"])?;
    desk.files(&["notes.md"])
}

pub(super) fn update(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh("printf 'one two three' > notes.md")?;
    desk.run(&[
        "python3",
        "-c",
        r"
import os
with open('notes.md', 'r+') as f:
    f.seek(4)
    f.write('TWO')
    f.flush()
    f.seek(0)
    assert f.read() == 'one TWO three'
    f.truncate(7)
assert os.stat('notes.md').st_size == 7
import mmap
with open('notes.md', 'r+b') as f:
    with mmap.mmap(f.fileno(), 0) as m:
        m[0:3] = b'ONE'
        m.flush()
assert open('notes.md').read() == 'ONE TWO'
",
    ])?;
    desk.holds("notes.md", "ONE TWO")?;
    desk.versions("notes.md", &["created", "modified", "modified"])
}
