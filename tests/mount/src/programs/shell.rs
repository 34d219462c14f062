//! What a person types at a shell. A shell opens a file, copies the descriptor and closes the first
//! before a byte is written: that close must not count.

use anyhow::{Result, ensure};

use super::desk::Desk;

pub(super) fn write(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh("echo one > notes.md")?;
    desk.holds("notes.md", "one\n")?;
    desk.versions("notes.md", &["created"])?;
    let who = desk.who("notes.md")?;
    desk.sh("echo two > notes.md")?;
    desk.holds("notes.md", "two\n")?;
    desk.versions("notes.md", &["created", "modified"])?;
    desk.still("notes.md", who.as_ref())?;
    // The same again is nothing new.
    desk.sh("echo two > notes.md")?;
    desk.versions("notes.md", &["created", "modified"])?;
    desk.sh("printf 'by cat' | cat > other.md; printf 'by tee' | tee third.md > /dev/null")?;
    desk.versions("other.md", &["created"])?;
    desk.versions("third.md", &["created"])?;
    ensure!(desk.sh("cat notes.md other.md third.md")? == "two\nby catby tee", "cat reads others");
    desk.files(&["notes.md", "other.md", "third.md"])
}

pub(super) fn append(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh("echo one > log.md; echo two >> log.md")?;
    desk.versions("log.md", &["created", "modified"])?;
    // Many writes, one close.
    desk.sh("{ echo three; echo four; echo five; } >> log.md")?;
    desk.holds("log.md", "one\ntwo\nthree\nfour\nfive\n")?;
    desk.versions("log.md", &["created", "modified", "modified"])?;
    desk.sh("for n in 1 2 3; do echo $n >> fresh.md; done")?;
    desk.holds("fresh.md", "1\n2\n3\n")?;
    desk.versions("fresh.md", &["created", "modified", "modified"])
}

pub(super) fn empty(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh("touch empty.md; echo text > full.md")?;
    desk.holds("empty.md", "")?;
    desk.versions("empty.md", &["created"])?;
    desk.sh("touch full.md; touch -d '2001-02-03 04:05:06' full.md")?;
    ensure!(desk.sh("date -r full.md +%Y")?.trim() == "2001", "touch does not set the time");
    desk.versions("full.md", &["created"])?;
    desk.sh("truncate -s 0 full.md")?;
    desk.holds("full.md", "")?;
    desk.versions("full.md", &["created", "modified"])?;
    desk.sh("truncate -s 3 full.md; chmod 600 full.md")?;
    desk.holds("full.md", "\0\0\0")?;
    desk.versions("full.md", &["created", "modified", "modified"])
}

pub(super) fn move_about(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh("echo text > from.md")?;
    let who = desk.who("from.md")?;
    desk.sh("mv from.md to.md")?;
    desk.still("to.md", who.as_ref())?;
    desk.versions("to.md", &["created", "modified"])?;
    desk.sh("mkdir -p a/b/c; mv to.md a/b/c/deep.md")?;
    desk.still("a/b/c/deep.md", who.as_ref())?;
    desk.sh("mv a x; echo more >> x/b/c/deep.md")?;
    desk.holds("x/b/c/deep.md", "text\nmore\n")?;
    desk.still("x/b/c/deep.md", who.as_ref())?;
    desk.sh("echo new > new.md; mv new.md x/b/c/deep.md")?;
    // What is moved over a file is the next version of that file.
    desk.holds("x/b/c/deep.md", "new\n")?;
    desk.still("x/b/c/deep.md", who.as_ref())?;
    desk.files(&["x/b/c/deep.md"])
}

pub(super) fn copy(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh("echo text > one.md; chmod 640 one.md; touch -d '2001-02-03 04:05:06' one.md")?;
    desk.sh("cp -p one.md two.md; cp one.md three.md")?;
    let stat = "stat -c '%a %Y %s'";
    let both = desk.sh(&format!("{stat} one.md; {stat} two.md"))?;
    let lines: Vec<&str> = both.lines().collect();
    ensure!(lines[0] == lines[1], "cp -p makes {} of {}", lines[1], lines[0]);
    desk.versions("two.md", &["created"])?;
    desk.versions("three.md", &["created"])?;
    desk.sh("echo longer text > one.md; cp one.md two.md")?;
    desk.holds("two.md", "longer text\n")?;
    desk.versions("two.md", &["created", "modified"])?;
    desk.sh("mkdir tree; cp one.md two.md tree; cp -a tree twin; diff -r tree twin")?;
    desk.files(&[
        "one.md",
        "three.md",
        "tree/one.md",
        "tree/two.md",
        "twin/one.md",
        "twin/two.md",
        "two.md",
    ])
}

pub(super) fn remove(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh("mkdir -p a/b; for n in 1 2 3; do echo $n > a/b/$n.md; done; echo stay > stay.md")?;
    desk.sh("rm a/b/1.md")?;
    desk.files(&["a/b/2.md", "a/b/3.md", "stay.md"])?;
    desk.sh("rm -r a; test ! -e a")?;
    desk.files(&["stay.md"])?;
    // A new file at an old name is a new memory.
    desk.sh("rm stay.md; echo again > stay.md")?;
    desk.versions("stay.md", &["created"])?;
    let (succeeded, told) = desk.try_run(&["rm", "missing.md"])?;
    ensure!(!succeeded && told.contains("No such file"), "rm of nothing says {told:?}");
    Ok(())
}
