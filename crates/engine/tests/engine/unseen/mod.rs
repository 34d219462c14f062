//! What a caller may not get leaves no trace in what it gets. Random worlds with hidden, sealed,
//! expired, removed and foreign memories are searched by random callers, while grants come and go
//! and time passes. Each answer is held against a small oracle, and against the answer to the same
//! question in the same world without anything the caller may not get: results, order, scores,
//! snippets, explanations and what is told about vectors must be the same bit for bit.

mod asking;
mod growth;
mod oracle;
mod world;

use self::growth::Grown;
use self::world::World;
use loci_model::Caller;
use loci_test_kit::{Dice, amount, named_seed};
use std::sync::atomic::{AtomicU64, Ordering};

/// Questions asked at least, in each world on average.
const CASES_MIN: u64 = 162;
/// How often a world goes on, and how much each caller asks in between.
const CHAPTERS: usize = 5;
const QUESTIONS: usize = 9;
const THREADS: u64 = 2;

#[test]
fn what_a_caller_may_not_get_leaves_no_trace() {
    if let Some(seed) = named_seed() {
        let mut building = tokio::runtime::Builder::new_current_thread();
        building.enable_time().build().unwrap().block_on(live_through(seed));
        return;
    }
    // The seed of each world is its number.
    let worlds = amount("hidden_worlds");
    eprintln!("hidden worlds: LOCI_SEED=0 to LOCI_SEED={}", worlds - 1);
    let (cases, telling) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (cases, telling) = (&cases, &telling);
            scope.spawn(move || {
                let mut building = tokio::runtime::Builder::new_current_thread();
                let runtime = building.enable_time().build().unwrap();
                for seed in (thread..worlds).step_by(THREADS as usize) {
                    let (asked, hits) = runtime.block_on(live_through(seed));
                    cases.fetch_add(asked, Ordering::Relaxed);
                    telling.fetch_add(hits, Ordering::Relaxed);
                }
            });
        }
    });
    let (cases, telling) = (cases.into_inner(), telling.into_inner());
    println!("{cases} questions, {telling} of them where something was found and something hidden");
    assert!(cases >= CASES_MIN * worlds, "{cases} questions are too few");
    assert!(telling * 3 >= cases, "only {telling} of {cases} questions could tell anything");
}

/// One world from its beginning to its end; answers how many questions were asked, and how many
/// found something while something was hidden from the caller.
async fn live_through(seed: u64) -> (u64, u64) {
    let mut dice = Dice::seeded(seed);
    let mut grown = Grown::new(&mut dice).await;
    let (mut asked, mut telling) = (0, 0);
    for chapter in 0..CHAPTERS {
        if chapter > 0 {
            grown.go_on(&mut dice).await;
        }
        for caller in grown.callers.clone() {
            let keep = |step: &world::Step| grown.known.kept(step, &caller, grown.now);
            let twin = World::replay(&grown.log, grown.now, keep).await;
            let hides = hides_something(&grown, &caller);
            for _ in 0..QUESTIONS {
                let request = asking::some_request(&grown, &mut dice);
                let context = grown.world.context(&caller);
                let real = grown.world.engine.search(&context, &request).await;
                let without = twin.engine.search(&context, &request).await;
                let checked = asking::check_answer(&grown, &caller, &request, &real)
                    .and_then(|()| asking::compare(&grown, &caller, &real, &without));
                if let Err(why) = checked {
                    panic!(
                        "{why}\nLOCI_SEED={seed}, chapter {chapter}\n{caller:#?}\n{request:#?}\n{:#?}",
                        grown.log
                    );
                }
                asked += 1;
                telling += u64::from(hides && real.is_ok_and(|answer| !answer.hits.is_empty()));
            }
        }
    }
    (asked, telling)
}

/// Whether there is a memory that the caller may not get, in a store it may search or elsewhere.
fn hides_something(grown: &Grown, caller: &Caller) -> bool {
    let mut ids = grown.known.memories.keys();
    ids.any(|id| !grown.known.may_get(caller, *id, grown.now))
}
