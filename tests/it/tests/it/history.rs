//! Tests of the history checker: what can have happened passes, and each way in which a store could
//! break its promise is noticed.

use loci_it::{Asked, Call, Entry, Operation, Told, faults};

/// A call from `sent` to `answered`.
fn call(sent: u64, answered: u64, asked: Asked, told: Told) -> Call {
    Call { sent, answered, is_repeated: false, asked, told }
}

fn done(memory: &str, version: &str) -> Told {
    Told::Done { memory: memory.into(), version: Some(version.into()) }
}

fn saw(version: &str) -> Told {
    Told::Saw { version: version.into() }
}

fn create(digest: &str) -> Asked {
    Asked::Create { path: "/p".into(), digest: digest.into() }
}

fn update(expects: &str, digest: &str) -> Asked {
    Asked::Update { memory: "m".into(), expects: Some(expects.into()), digest: digest.into() }
}

fn overwrite(digest: &str) -> Asked {
    Asked::Update { memory: "m".into(), expects: None, digest: digest.into() }
}

fn remove() -> Asked {
    Asked::Remove { memory: "m".into(), expects: None }
}

fn read() -> Asked {
    Asked::Read { memory: "m".into() }
}

/// The history of memory `m` at `/p`: contents `a`, `b` … as versions `va`, `vb` …; `-` removes it.
fn feed(contents: &str) -> Vec<Entry> {
    let entries = (1..).zip(contents.chars()).map(|(seq, content)| Entry {
        seq,
        memory: "m".into(),
        version: format!("v{content}"),
        revision: seq,
        operation: match (seq, content) {
            (_, '-') => Operation::Deleted,
            (1, _) => Operation::Created,
            _ => Operation::Modified,
        },
        path: "/p".into(),
        digest: (content != '-').then(|| content.to_string()),
    });
    entries.collect()
}

#[track_caller]
fn passes(calls: &[Call], contents: &str) {
    assert_eq!(faults(calls, &feed(contents)), [] as [String; 0]);
}

#[track_caller]
fn fails(calls: &[Call], feed: &[Entry], why: &str) {
    let faults = faults(calls, feed);
    assert!(faults.iter().any(|fault| fault.contains(why)), "{why}: {faults:#?}");
}

fn first() -> Call {
    call(1, 2, create("a"), done("m", "va"))
}

#[test]
fn a_history_that_can_have_happened_passes() {
    passes(
        &[
            first(),
            // Two rivals with one precondition, and a reader who saw either.
            call(3, 9, update("a", "b"), done("m", "vb")),
            call(4, 8, update("a", "c"), Told::Differs),
            call(5, 6, read(), saw("va")),
            call(5, 6, read(), saw("vb")),
            call(10, 11, overwrite("d"), done("m", "vd")),
            // A repeated request finds its path taken, a removed memory is missing.
            call(10, 12, create("x"), Told::Taken { by: "m".into() }),
            call(13, 14, remove(), Told::Done { memory: "m".into(), version: None }),
            call(13, 15, remove(), Told::Missing),
            call(16, 17, read(), Told::Missing),
            call(16, 17, overwrite("y"), Told::Nothing),
        ],
        "abd-",
    );
}

#[test]
fn what_stayed_unanswered_may_have_happened_at_any_later_time() {
    let silent = call(3, u64::MAX, update("a", "b"), Told::Nothing);
    passes(&[first(), silent.clone()], "ab");
    passes(&[first(), silent], "a");
    // Refused when it was sent again, and the first sending came through after all.
    let mut late = call(3, 4, create("c"), Told::Taken { by: "m".into() });
    late.is_repeated = true;
    let gone = call(5, 6, remove(), Told::Done { memory: "m".into(), version: None });
    let mut entries = feed("a-");
    entries.push(Entry {
        seq: 3,
        memory: "n".into(),
        version: "vc".into(),
        revision: 1,
        operation: Operation::Created,
        path: "/p".into(),
        digest: Some("c".into()),
    });
    assert_eq!(faults(&[first(), late.clone(), gone.clone()], &entries), [] as [String; 0]);
    // Sent once, it cannot be both.
    late.is_repeated = false;
    fails(&[first(), late, gone], &entries, "refused, yet");
}

#[test]
fn a_lost_write_is_noticed() {
    let second = call(3, 4, overwrite("b"), done("m", "vb"));
    fails(&[first(), second], &feed("a"), "lost");
    let removal = call(3, 4, remove(), Told::Done { memory: "m".into(), version: None });
    fails(&[first(), removal.clone()], &feed("a"), "lost");
    fails(&[first(), removal.clone(), removal], &feed("a-"), "lost");
}

#[test]
fn a_lost_update_is_noticed() {
    // Both compared with the same content, and both were told that they had won.
    let calls = [
        first(),
        call(3, 5, update("a", "b"), done("m", "vb")),
        call(3, 5, update("a", "c"), done("m", "vc")),
    ];
    fails(&calls, &feed("abc"), "did not expect");
}

#[test]
fn a_duplicated_write_is_noticed() {
    let mut again = call(3, 9, overwrite("b"), done("m", "vb"));
    again.is_repeated = true;
    fails(&[first(), again], &feed("abb"), "duplicated");
}

#[test]
fn a_refusal_by_its_own_first_sending_is_noticed() {
    let mut again = call(3, 9, update("a", "b"), Told::Differs);
    again.is_repeated = true;
    fails(&[first(), again], &feed("ab"), "explains");
}

#[test]
fn a_write_nobody_asked_for_is_noticed() {
    fails(&[first()], &feed("ab"), "nobody asked");
}

#[test]
fn a_stale_read_is_noticed() {
    let second = call(3, 4, overwrite("b"), done("m", "vb"));
    fails(&[first(), second.clone(), call(5, 6, read(), saw("va"))], &feed("ab"), "explains");
    fails(&[first(), second.clone(), call(5, 6, read(), Told::Missing)], &feed("ab"), "explains");
    // Nor can it see what was not asked for yet.
    let early = call(0, 0, read(), saw("va"));
    fails(&[first(), second, early], &feed("ab"), "explains");
}

#[test]
fn writes_in_another_order_than_they_happened_are_noticed() {
    let calls = [
        first(),
        call(3, 4, overwrite("b"), done("m", "vb")),
        call(5, 6, overwrite("c"), done("m", "vc")),
    ];
    passes(&calls, "abc");
    fails(&calls, &feed("acb"), "reordered");
}

#[test]
fn a_refusal_without_a_reason_is_noticed() {
    fails(&[first(), call(3, 4, update("a", "b"), Told::Differs)], &feed("a"), "explains");
    fails(&[first(), call(3, 4, overwrite("b"), Told::Missing)], &feed("a"), "explains");
    fails(&[first(), call(3, 4, overwrite("b"), Told::Differs)], &feed("a"), "explains");
    let taken = call(3, 4, create("b"), Told::Taken { by: "n".into() });
    fails(&[first(), taken], &feed("a"), "explains");
}

#[test]
fn an_answer_about_another_version_is_noticed() {
    fails(&[call(1, 2, create("a"), done("m", "vz"))], &feed("a"), "otherwise");
    fails(&[call(1, 2, create("a"), done("n", "va"))], &feed("a"), "otherwise");
}

#[test]
fn a_broken_feed_is_noticed() {
    let calls = [first(), call(3, 4, overwrite("b"), done("m", "vb"))];
    let mut gap = feed("ab");
    gap[1].seq = 3;
    fails(&calls, &gap, "in the feed");
    let mut skipped = feed("ab");
    skipped[1].revision = 3;
    fails(&calls, &skipped, "cannot follow");
    fails(&calls, &feed("a-b"), "cannot follow");
}
