//! What a store holds more than once: texts that are equal, and texts that nearly are. Found by
//! comparing sets of three-word runs, so it needs no model and no vectors.

use crate::compute::may_block;
use crate::{Context, Engine, Result};
use loci_model::policy;
use loci_model::{Invalid, Memory, StoreId, limit};
use loci_search::text::fingerprint::{SKETCH_LEN, jaccard, minhash, shingles};
use std::collections::{BTreeMap, HashMap};

/// Texts read at once.
const PAGE: usize = 1000;
/// Numbers of a sketch that must agree for two texts to be looked at: with sixteen bands of four,
/// texts that share half of their runs meet with a chance of two in three, and texts that share
/// eight tenths practically always.
const BAND: usize = 4;
/// Pairs looked at; beyond it the report says that it is cut.
const PAIRS_MAX: usize = 1_000_000;
/// Texts with fewer runs than this are compared for equality only.
const SHINGLES_MIN: usize = 3;

/// What to look for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DuplicatesRequest {
    /// How much two texts must share to be near, 0.5 to 1.
    pub threshold: f32,
    /// Groups of either sort to report.
    pub limit: usize,
}

/// Memories that say the same.
#[derive(Debug, Clone, PartialEq)]
pub struct DuplicateGroup {
    /// The memories, oldest first, without content.
    pub memories: Vec<Memory>,
    /// How much the least alike neighbours of the group share, 0 to 1.
    pub similarity: f32,
}

/// What a store holds more than once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DuplicatesReport {
    /// Equal texts, the largest groups first.
    pub exact: Vec<DuplicateGroup>,
    /// Nearly equal texts; one of each exact group stands for it.
    pub near: Vec<DuplicateGroup>,
    /// Whether there was more than is reported.
    pub is_truncated: bool,
}

impl Engine {
    /// Reports what a store holds more than once.
    pub async fn duplicates(
        &self,
        context: &Context,
        store: StoreId,
        request: &DuplicatesRequest,
    ) -> Result<DuplicatesReport> {
        if !(0.5..=1.0).contains(&request.threshold) {
            return Err(Invalid::new("threshold", "takes 0.5 to 1").into());
        }
        if request.limit == 0 || request.limit > limit::PAGE_ITEMS_MAX {
            let why = format!("takes 1 to {}", limit::PAGE_ITEMS_MAX);
            return Err(Invalid::new("limit", why).into());
        }
        // Listing what a store holds takes the right to read it; the search pass only carries the
        // same audience into the reading of texts.
        let read = self.read_pass(context, store).await?;
        let facts = self.facts(context, store).await?;
        let pass = policy::search(&context.caller, &[facts], read.now());
        let (mut texts, mut after) = (Vec::new(), 0);
        let (engine, request) = (self.clone(), *request);
        self.compute(async move {
            loop {
                let page = engine.storage.texts(&pass, store, after, PAGE).await?;
                texts.extend(page.memories.into_iter().map(Fingerprint::of));
                match page.next {
                    Some(next) => after = next,
                    None => break,
                }
            }
            Ok(report(texts, &request))
        })
        .await
    }
}

/// A memory and what its text is made of.
struct Fingerprint {
    memory: Memory,
    shingles: Vec<u64>,
    sketch: [u32; SKETCH_LEN],
}

impl Fingerprint {
    fn of(mut memory: Memory) -> Self {
        debug_assert!(may_block(), "comparing texts computes");
        let content = memory.content.take();
        let shingles = content.as_ref().and_then(|content| content.text()).map(shingles);
        let shingles = shingles.unwrap_or_default();
        let sketch = minhash(&shingles);
        Self { memory, shingles, sketch }
    }
}

fn report(mut texts: Vec<Fingerprint>, request: &DuplicatesRequest) -> DuplicatesReport {
    texts.sort_by_key(|text| (text.memory.created_at, text.memory.id));
    let mut equal: BTreeMap<[u8; 32], Vec<usize>> = BTreeMap::new();
    for (at, text) in texts.iter().enumerate() {
        equal.entry(*text.memory.digest.as_bytes()).or_default().push(at);
    }
    // The oldest of each group of equals stands for it from here on.
    let first: Vec<usize> = equal.values().map(|group| group[0]).collect();
    let exact = equal.into_values().filter(|group| group.len() > 1).map(|group| (group, 1.0));
    let (near, is_cut) = near_groups(&texts, &first, request.threshold);
    let mut is_truncated = is_cut;
    let mut shown = |mut groups: Vec<(Vec<usize>, f32)>| {
        groups.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        is_truncated |= groups.len() > request.limit;
        groups.truncate(request.limit);
        let group = |(members, similarity): (Vec<usize>, f32)| {
            is_truncated |= members.len() > limit::PAGE_ITEMS_MAX;
            let members = members.into_iter().take(limit::PAGE_ITEMS_MAX);
            let memories = members.map(|at| texts[at].memory.clone()).collect();
            DuplicateGroup { memories, similarity }
        };
        groups.into_iter().map(group).collect::<Vec<_>>()
    };
    let exact = shown(exact.collect());
    let near = shown(near);
    DuplicatesReport { exact, near, is_truncated }
}

/// Texts that are connected by being near; `true` when not every pair was looked at.
fn near_groups(
    texts: &[Fingerprint],
    candidates: &[usize],
    threshold: f32,
) -> (Vec<(Vec<usize>, f32)>, bool) {
    let mut groups = Groups::new(texts.len());
    let (mut looked, mut is_cut) = (0, false);
    for band in (0..SKETCH_LEN).step_by(BAND) {
        let mut alike: HashMap<&[u32], Vec<usize>> = HashMap::new();
        for at in candidates.iter().copied().filter(|at| texts[*at].shingles.len() >= SHINGLES_MIN)
        {
            alike.entry(&texts[at].sketch[band..band + BAND]).or_default().push(at);
        }
        for group in alike.values().filter(|group| group.len() > 1) {
            for (nth, a) in group.iter().enumerate() {
                for b in &group[nth + 1..] {
                    if groups.root(*a) == groups.root(*b) {
                        continue;
                    }
                    if looked == PAIRS_MAX {
                        is_cut = true;
                        continue;
                    }
                    looked += 1;
                    let shared = jaccard(&texts[*a].shingles, &texts[*b].shingles);
                    if shared >= threshold {
                        groups.join(*a, *b, shared);
                    }
                }
            }
        }
    }
    (groups.all(candidates), is_cut)
}

/// Sets that grow together.
struct Groups {
    parent: Vec<usize>,
    least: Vec<f32>,
}

impl Groups {
    fn new(count: usize) -> Self {
        Self { parent: (0..count).collect(), least: vec![1.0; count] }
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize, similarity: f32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[b] = a;
        self.least[a] = self.least[a].min(self.least[b]).min(similarity);
    }

    fn all(mut self, candidates: &[usize]) -> Vec<(Vec<usize>, f32)> {
        let mut by_root: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in candidates {
            by_root.entry(self.root(*at)).or_default().push(*at);
        }
        let many = by_root.into_iter().filter(|(_, group)| group.len() > 1);
        many.map(|(root, mut group)| {
            group.sort_unstable();
            (group, self.least[root])
        })
        .collect()
    }
}
