//! The comparison at the end: each side is read whole, a page at a time, and folded into digests;
//! both sides at once. A difference names what differs, never what is in it.

use super::fold::{Fold, Folded};
use super::side::Side;
use super::{Course, Result, Tally, copy, ground, readings};
use loci_model::{Content, Store, WorkspaceId, limit};
use loci_storage::GenerationId;
use loci_storage::log::LogEntry;

type Differences = Vec<String>;

/// What there is, and what is not the same on both sides.
pub(super) async fn everything(
    from: &Side,
    to: &Side,
    course: &Course<'_>,
) -> Result<(Tally, Differences)> {
    let mut differences = Vec::new();
    let workspaces = from.workspaces().await?;
    if to.workspaces().await? != workspaces {
        differences.push("they hold different workspaces".to_owned());
    }
    let (ours, theirs) = (from.generations().await?, to.generations().await?);
    if ours.len() != theirs.len() || !ground::is_beginning(&theirs, &ours) {
        differences.push("they have different generations of vectors".to_owned());
    }
    let ids = |known: &[loci_storage::Generation]| known.iter().map(|one| one.id).collect();
    let generations: [Vec<GenerationId>; 2] = [ids(&ours), ids(&theirs)];
    let mut tally = Tally {
        workspaces: workspaces.len() as u64,
        left_behind: from.unpurged().await?.len() as u64,
        ..Tally::default()
    };
    for (workspace, _) in workspaces {
        let (ours, theirs) = tokio::join!(people(from, workspace), people(to, workspace));
        let (ours, theirs) = (ours?, theirs?);
        ours.count_in(&mut tally);
        differences.extend(ours.differences(&theirs, &format!("workspace {workspace}")));
        stores(from, to, workspace, &generations, course, &mut tally, &mut differences).await?;
    }
    Ok((tally, differences))
}

/// Digests of one thing, by the names of its parts.
struct Parts(Vec<(&'static str, Folded)>);

impl Parts {
    fn differences(&self, other: &Self, whose: &str) -> Differences {
        let pairs = self.0.iter().zip(&other.0).filter(|(ours, theirs)| ours != theirs);
        let differ = |((name, ours), (_, theirs)): (&(&str, Folded), &(&str, Folded))| {
            let (here, there) = (ours.count, theirs.count);
            match here == there {
                true => format!("{whose}: {name} differ"),
                false => format!("{whose}: {name} differ ({here} and {there})"),
            }
        };
        pairs.map(differ).collect()
    }

    fn count_in(&self, tally: &mut Tally) {
        for (name, folded) in &self.0 {
            let count = match *name {
                "principals" => &mut tally.principals,
                "keys" => &mut tally.keys,
                "sessions" => &mut tally.sessions,
                "idempotency keys" => &mut tally.requests,
                "memberships" => &mut tally.memberships,
                "audit events" => &mut tally.events,
                "grants" => &mut tally.grants,
                "memories" => &mut tally.memories,
                "versions" => &mut tally.entries,
                "vectors" => &mut tally.vectors,
                "readings" => &mut tally.readings,
                _ => continue,
            };
            *count += folded.count;
        }
    }
}

async fn people(side: &Side, workspace: WorkspaceId) -> Result<Parts> {
    let (mut principals, mut keys) = (Fold::default(), Fold::default());
    let (mut sessions, mut requests) = (Fold::default(), Fold::default());
    for principal in side.principals(workspace).await? {
        principals.add(&principal);
    }
    for key in side.keys(workspace).await? {
        keys.add(&key);
    }
    let mut walk = side.sessions(workspace);
    while let Some(session) = walk.next().await? {
        sessions.add(&session);
    }
    let mut walk = side.requests(workspace);
    while let Some(seen) = walk.next().await? {
        requests.add(&seen);
    }
    let (mut memberships, mut events) = (Fold::default(), Fold::default());
    let mut walk = side.memberships(workspace);
    while let Some(membership) = walk.next().await? {
        memberships.add(&membership);
    }
    let mut walk = side.events(workspace);
    while let Some(event) = walk.next().await? {
        events.add(&event);
    }
    Ok(Parts(vec![
        ("memberships", memberships.end()),
        ("audit events", events.end()),
        ("principals", principals.end()),
        ("keys", keys.end()),
        ("sessions", sessions.end()),
        ("idempotency keys", requests.end()),
    ]))
}

async fn stores(
    from: &Side,
    to: &Side,
    workspace: WorkspaceId,
    [ours, theirs]: &[Vec<GenerationId>; 2],
    course: &Course<'_>,
    tally: &mut Tally,
    differences: &mut Differences,
) -> Result<()> {
    let mut known = from.stores(workspace);
    while let Some(store) = known.next().await? {
        tally.stores += 1;
        match to.store(&store).await? {
            None => differences.push(format!("store {}: is missing at the destination", store.id)),
            Some(there) => {
                if there != store {
                    differences.push(format!("store {}: its description differs", store.id));
                }
                let (here, there) = tokio::join!(
                    contents(from, &store, ours, Some(course)),
                    contents(to, &store, theirs, None)
                );
                let (here, there) = (here?, there?);
                here.count_in(tally);
                differences.extend(here.differences(&there, &format!("store {}", store.id)));
            }
        }
    }
    let mut there = to.stores(workspace);
    while let Some(store) = there.next().await? {
        if from.store(&store).await?.is_none() {
            differences.push(format!("store {}: is not in the source", store.id));
        }
    }
    Ok(())
}

async fn contents(
    side: &Side,
    store: &Store,
    generations: &[GenerationId],
    course: Option<&Course<'_>>,
) -> Result<Parts> {
    let (mut versions, mut vectors) = (Fold::default(), Fold::default());
    let mut after = 0;
    loop {
        let page = side.log(store, after).await?;
        let Some(last) = page.last() else { break };
        let before = std::mem::replace(&mut after, last.seq());
        for entry in &page {
            versions.add_with(entry, content(entry));
        }
        fold_vectors(side, store, generations, &page, &mut vectors).await?;
        if let Some(course) = course {
            course.advance(after - before);
        }
    }
    let (mut feed, mut memories) = (Fold::default(), Fold::default());
    let mut walk = side.changes(store);
    while let Some(change) = walk.next().await? {
        feed.add(&change);
    }
    let mut walk = side.memories(store);
    while let Some(memory) = walk.next().await? {
        memories.add(&memory);
    }
    let (mut grants, mut marks, mut counters) = (Fold::default(), Fold::default(), Fold::default());
    for grant in side.grants(store).await? {
        grants.add(&grant);
    }
    let end = side.end(store).await?;
    for generation in generations {
        marks.add(&end.vectors.iter().find(|(id, _)| id == generation).map(|(_, mark)| *mark));
    }
    counters.add(&side.stats(store).await?);
    let (readings, reading_marks) = readings::fold(side, store).await?;
    Ok(Parts(vec![
        ("memories", memories.end()),
        ("versions", versions.end()),
        ("changes of the feed", feed.end()),
        ("grants", grants.end()),
        ("vectors", vectors.end()),
        ("marks of vectors", marks.end()),
        ("readings", readings),
        ("marks of readings", reading_marks),
        ("counters", counters.end()),
    ]))
}

fn content(entry: &LogEntry) -> Option<&Content> {
    match entry {
        LogEntry::Version { version, .. } => version.content.as_ref(),
        LogEntry::Damaged { .. } | LogEntry::Redaction { .. } => None,
    }
}

/// The vectors of a page of the history, by the position of their generation: numbers of generations
/// may be different.
async fn fold_vectors(
    side: &Side,
    store: &Store,
    generations: &[GenerationId],
    page: &[LogEntry],
    vectors: &mut Fold,
) -> Result<()> {
    let versions: Vec<_> = page.iter().filter_map(copy::text_version).collect();
    for some in versions.chunks(limit::VECTOR_BATCH_MAX) {
        let mut found = Vec::with_capacity(generations.len());
        for generation in generations {
            found.push(side.vectors(store, *generation, some).await?);
        }
        // Version by version, so that it does not matter where pages end.
        for (at, version) in some.iter().enumerate() {
            for (position, of_generation) in found.iter().enumerate() {
                if let Some(bytes) = &of_generation[at] {
                    vectors.add_row(&(position, version), bytes);
                }
            }
        }
    }
    Ok(())
}
