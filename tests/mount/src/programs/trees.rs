//! Programs that work on whole trees.

use anyhow::{Context, Result, ensure};

use super::desk::Desk;

/// The work tree is here, what git keeps is elsewhere.
pub(super) fn git(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh(r#"
        export GIT_DIR="$OUT/git" GIT_WORK_TREE="$PWD"
        git init --quiet --initial-branch main
        git config user.email a@example.org; git config user.name A
        mkdir docs; echo one > docs/a.md; echo two > b.md
        git add --all; git commit --quiet -m first
        test -z "$(git status --porcelain)"
        echo three >> b.md; test "$(git status --porcelain)" = ' M b.md'
        git mv docs/a.md docs/c.md; git commit --quiet -a -m second
        git checkout --quiet HEAD~1; test "$(cat b.md)" = two; test -f docs/a.md; test ! -e docs/c.md
        git checkout --quiet main; test -f docs/c.md; test -z "$(git status --porcelain)"
        echo dropped > b.md; git restore b.md; git stash list; git diff --exit-code
    "#)?;
    desk.holds("b.md", "two\nthree\n")?;
    desk.files(&["b.md", "docs/c.md"])
}

/// What git keeps is no text: refused with a reason, or kept. It must end, and harm nothing.
pub(super) fn git_inside(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh("echo text > notes.md")?;
    let script = "git init --quiet . && git add notes.md && git -c user.name=A \
                  -c user.email=a@example.org commit --quiet -m first";
    let (succeeded, told) = desk.try_run(&["sh", "-euc", script])?;
    ensure!(succeeded || !told.trim().is_empty(), "git failed without a word");
    desk.holds("notes.md", "text\n")?;
    desk.sh("rm -rf .git; test ! -e .git")?;
    desk.files(&["notes.md"])
}

pub(super) fn rsync(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh(r#"mkdir -p "$OUT/from/below"; cd "$OUT/from"
        echo one > a.md; echo two > below/b.md; touch -d '2001-02-03 04:05:06' a.md"#)?;
    let copy = r#"rsync -a --itemize-changes "$OUT/from/" ./"#;
    desk.sh(copy)?;
    desk.sh(r#"diff -r "$OUT/from" ."#)?;
    desk.versions("a.md", &["created"])?;
    desk.versions("below/b.md", &["created"])?;
    let who = desk.who("a.md")?;
    let again = desk.sh(copy)?;
    ensure!(again.is_empty(), "a second run changes {again:?}");
    desk.sh(r#"echo more >> "$OUT/from/a.md""#)?;
    desk.sh(copy)?;
    desk.holds("a.md", "one\nmore\n")?;
    desk.still("a.md", who.as_ref())?;
    desk.versions("a.md", &["created", "modified"])?;
    desk.sh(r#"rm "$OUT/from/below/b.md"; rsync -a --delete "$OUT/from/" ./"#)?;
    desk.files(&["a.md"])?;
    desk.sh(r#"rsync -a ./ "$OUT/back/"; diff -r "$OUT/from" "$OUT/back""#)?;
    Ok(())
}

pub(super) fn tar(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh(r#"mkdir -p "$OUT/from/below/deep"; cd "$OUT/from"
        for n in $(seq 50); do echo "text $n" > below/$n.md; done; echo deep > below/deep/d.md
        tar -cf ../in.tar ."#)?;
    desk.sh(r#"tar -xf "$OUT/in.tar"; diff -r "$OUT/from" ."#)?;
    for name in ["below/1.md", "below/50.md", "below/deep/d.md"] {
        desk.versions(name, &["created"])?;
    }
    // The very same again: nothing changes, so nothing is kept anew.
    desk.sh(r#"tar --overwrite -xf "$OUT/in.tar"; diff -r "$OUT/from" ."#)?;
    desk.versions("below/1.md", &["created"])?;
    desk.sh(r#"tar -cf "$OUT/out.tar" .; mkdir "$OUT/to"; tar -C "$OUT/to" -xf "$OUT/out.tar"
        diff -r "$OUT/from" "$OUT/to""#)?;
    Ok(())
}

fn plant(desk: &Desk<'_>) -> Result<()> {
    desk.sh(r#"for d in one two three; do mkdir $d
        for n in $(seq 40); do printf 'note %s of %s\nneedle%s\n' $n $d $((n % 10)) > $d/$n.md; done
        done"#)?;
    Ok(())
}

pub(super) fn grep(desk: &mut Desk<'_>) -> Result<()> {
    plant(desk)?;
    let found = desk
        .sh("grep -r needle7 . | wc -l; grep -rl needle . | wc -l; grep -rc x one/1.md || true")?;
    let counts: Vec<&str> = found.split_whitespace().collect();
    ensure!(counts == ["12", "120", "0"], "grep counts {counts:?}");
    desk.sh("echo needle7 >> one/1.md; test $(grep -r needle7 . | wc -l) = 13")?;
    Ok(())
}

pub(super) fn find(desk: &mut Desk<'_>) -> Result<()> {
    plant(desk)?;
    let found =
        desk.sh("find . -type f | wc -l; find . -type d | wc -l; find . -name '4*.md' | wc -l; \
         find . -size -2 -type f | wc -l; find . -newermt 2001-01-01 -type f | wc -l; \
         find . -empty | wc -l; find . -links 1 -type f | wc -l")?;
    let counts: Vec<&str> = found.split_whitespace().collect();
    ensure!(counts == ["120", "4", "6", "120", "120", "0", "120"], "find counts {counts:?}");
    desk.sh("find two -name '*.md' -delete; test $(find two -type f | wc -l) = 0; rmdir two")?;
    Ok(())
}

pub(super) fn du_and_df(desk: &mut Desk<'_>) -> Result<()> {
    desk.sh("mkdir a; for n in $(seq 10); do head -c 5000 /dev/zero | tr '\\0' x > a/$n.md; done")?;
    let apparent: u64 = desk.sh("cat a/*.md | wc -c")?.trim().parse()?;
    ensure!(apparent == 50_000, "the files have {apparent} bytes");
    let used = desk.sh("du -s --block-size=1 a | cut -f 1")?;
    let used: u64 = used.trim().parse().context("du says no number")?;
    ensure!((50_000..400_000).contains(&used), "du says {used} bytes");
    let free = desk.sh("df --block-size=1 --output=size,used,avail . | tail -n 1")?;
    let free: Vec<u64> = free.split_whitespace().map_while(|word| word.parse().ok()).collect();
    ensure!(matches!(free[..], [size, used, _] if size > 0 && used <= size), "df says {free:?}");
    let nodes = desk.sh("df --output=itotal . | tail -n 1")?;
    ensure!(nodes.trim() != "-", "df says no inodes");
    Ok(())
}
