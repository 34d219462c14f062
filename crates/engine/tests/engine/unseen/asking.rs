//! Random questions, what the oracle demands of an answer, and when two answers are the same.

use crate::unseen::growth::{Grown, KINDS, NAMES, TAGS, WORDS};
use crate::unseen::oracle::KnownMemory;
use loci_engine::Error;
use loci_engine::search::{
    AsOf, Fusion, Hit, Mode, Reach, Recency, SearchAnswer, SearchRequest, Signals, Span, Wait,
    Wanted,
};
use loci_model::{Caller, MemoryId, PathPrefix, StoreId, View, limit};
use loci_test_kit::Dice;
use std::collections::BTreeSet;
use std::time::Duration;

pub(crate) fn some_request(grown: &Grown, dice: &mut Dice) -> SearchRequest {
    let mut wanted = Wanted::new(some_query(dice), dice.pick(&[1, 3, 20, 20, 100]));
    wanted.mode = match dice.below(3) {
        _ if grown.is_ambiguous => Mode::Lexical,
        0 => Mode::Lexical,
        1 => Mode::Semantic,
        _ => Mode::Hybrid,
    };
    wanted.fusion = match dice.below(4) {
        0 => Fusion::Rrf { k: dice.below(80) as f32 },
        1 => Fusion::Convex { lexical_weight: Some(dice.share()) },
        _ => Fusion::default(),
    };
    if dice.percent(30) {
        let recency = Recency { weight: dice.share(), half_life_secs: 20.0 };
        wanted.signals = Signals {
            recency: dice.percent(50).then_some(recency),
            importance: dice.share(),
            pinned: dice.share(),
        };
    }
    if dice.percent(25) && !grown.is_ambiguous {
        wanted.diversity = dice.share();
    }
    if dice.percent(30) {
        some_filter(grown, &mut wanted, dice);
    }
    let wait = Wait { until: None, at_most: Duration::ZERO };
    SearchRequest {
        reach: some_reach(grown, dice),
        wanted,
        view: if dice.percent(80) { View::Full } else { View::Basic },
        explain: dice.percent(80),
        content_bytes_max: usize::MAX,
        snippet_chars: dice.pick(&[0, 12, 200]),
        // The past is tried by itself elsewhere; up to this moment it is the present.
        as_of: dice.percent(8).then_some(AsOf::Time(grown.now)),
        wait: dice.percent(5).then_some(wait),
    }
}

fn some_query(dice: &mut Dice) -> String {
    let mut parts = Vec::new();
    for _ in 0..dice.between(1, 4) {
        let word = dice.pick(&WORDS);
        parts.push(match dice.below(16) {
            0 => format!("\"{word} {}\"", dice.pick(&WORDS)),
            1 => "te*".to_owned(),
            2 => "stone*".to_owned(),
            3 => dice.pick(&NAMES).to_owned(),
            4 => "what is the".to_owned(),
            5 => "?\"(*".to_owned(),
            6 => format!("{word}s"),
            _ => word.to_owned(),
        });
    }
    parts.join(" ")
}

fn some_filter(grown: &Grown, wanted: &mut Wanted, dice: &mut Dice) {
    let filter = &mut wanted.filter;
    match dice.below(4) {
        0 => {
            for _ in 0..1 + dice.below(2) {
                let prefix = dice.pick(&["/a/", "/a/cup/", "/b/"]);
                filter.prefixes.push(PathPrefix::parse(prefix).unwrap());
            }
        }
        1 => filter.kinds = vec![dice.pick(&KINDS).to_owned()],
        2 => filter.tags = vec![dice.pick(&TAGS).to_owned()],
        _ => {
            let back = grown.now.plus_secs(-(dice.below(60) as i64));
            filter.updated =
                Span { since: dice.percent(50).then_some(back), until: Some(grown.now) };
            filter.created = Span { since: None, until: dice.percent(50).then_some(back) };
        }
    }
}

fn some_reach(grown: &Grown, dice: &mut Dice) -> Reach {
    let stores: Vec<StoreId> = grown.known.stores.iter().map(|known| known.store.id).collect();
    match dice.below(10) {
        0 if dice.percent(30) => Reach::Store(StoreId::from_u128(dice.bits())),
        0..=3 => Reach::Store(dice.pick(&stores)),
        4 | 5 => {
            let count = dice.between(1, stores.len());
            let some = (0..count).map(|_| dice.pick(&stores)).collect();
            if dice.percent(50) { Reach::Stores(some) } else { Reach::Among(some) }
        }
        _ => Reach::Everywhere,
    }
}

/// What the oracle demands of an answer.
pub(crate) fn check_answer(
    grown: &Grown,
    caller: &Caller,
    request: &SearchRequest,
    answer: &Result<SearchAnswer, Error>,
) -> Result<(), String> {
    let (known, now) = (&grown.known, grown.now);
    let named: Option<Vec<StoreId>> = match &request.reach {
        Reach::Store(store) => Some(vec![*store]),
        Reach::Stores(stores) => Some(stores.clone()),
        Reach::Among(_) | Reach::Everywhere => None,
    };
    let is_open = |store: &StoreId| known.may_search(caller, *store, now);
    let expects_refusal = named.as_ref().is_some_and(|stores| !stores.iter().all(is_open));
    // Looking back takes the right to read.
    let is_shown = |store: &StoreId| request.as_of.is_none() || known.may_read(caller, *store, now);
    let expects_denial = named.as_ref().is_some_and(|stores| !stores.iter().all(is_shown));
    let answer = match (answer, expects_refusal, expects_denial) {
        (Err(Error::NotFound("memory store")), true, _) => return Ok(()),
        (Err(Error::Denied(_)), false, true) => return Ok(()),
        (Ok(answer), false, false) => answer,
        (other, ..) => {
            return Err(format!(
                "refused {expects_refusal}, denied {expects_denial}, is {other:?}"
            ));
        }
    };
    let is_reached = |store: StoreId| {
        let is_asked_for = match &request.reach {
            Reach::Among(stores) => stores.contains(&store),
            _ => named.as_ref().is_none_or(|stores| stores.contains(&store)),
        };
        is_shown(&store) && is_asked_for
    };
    let mut seen = BTreeSet::new();
    for hit in &answer.hits {
        let memory = known.memories.get(&hit.memory.id).ok_or("found what is not there")?;
        if !known.may_get(caller, hit.memory.id, now) || !is_reached(memory.store) {
            return Err(format!("found what the caller may not get: {}", hit.memory.id));
        }
        if !passes(request, hit) {
            return Err(format!("found what the filter excludes: {}", hit.memory.id));
        }
        check_shown(memory, hit, request)?;
        if !seen.insert(hit.memory.id) {
            return Err(format!("found twice: {}", hit.memory.id));
        }
    }
    if answer.hits.len() > request.wanted.limit {
        return Err("found more than wanted".into());
    }
    let is_sorted = answer.hits.is_sorted_by(|a, b| a.score >= b.score);
    if request.wanted.diversity == 0.0 && !is_sorted {
        return Err("not the best first".into());
    }
    for (store, _) in &answer.indexed_through {
        if !known.may_follow(caller, *store, now) || !is_reached(*store) {
            return Err(format!("told how far {store} is"));
        }
    }
    check_whole(grown, caller, request, &seen, &is_reached)
}

/// By word, whatever holds a word of the query is found if there is room; out of a store that may
/// only be searched, as many as it gives.
fn check_whole(
    grown: &Grown,
    caller: &Caller,
    request: &SearchRequest,
    seen: &BTreeSet<MemoryId>,
    is_reached: &dyn Fn(StoreId) -> bool,
) -> Result<(), String> {
    let wanted = &request.wanted;
    if wanted.mode != Mode::Lexical
        || wanted.limit < 20
        || wanted.text.contains('"')
        || !wanted.filter.is_empty()
    {
        return Ok(());
    }
    let asked: Vec<&str> = WORDS.into_iter().filter(|word| has_word(&wanted.text, word)).collect();
    for (id, memory) in &grown.known.memories {
        let text = memory.text.as_deref().unwrap_or_default();
        let is_wanted = is_reached(memory.store)
            && grown.known.may_get(caller, *id, grown.now)
            && asked.iter().any(|word| has_word(text, word));
        let from_store = |id: &&MemoryId| {
            grown.known.memories.get(*id).is_some_and(|found| found.store == memory.store)
        };
        let is_guarded = !grown.known.may_read(caller, memory.store, grown.now);
        let is_spent =
            is_guarded && seen.iter().filter(from_store).count() >= limit::GUARDED_RESULTS_MAX;
        if is_wanted && !is_spent && !seen.contains(id) {
            return Err(format!("not found: {id}"));
        }
    }
    Ok(())
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|part| part == word)
}

/// The filter once more, on what came back.
fn passes(request: &SearchRequest, hit: &Hit) -> bool {
    let (filter, memory) = (&request.wanted.filter, &hit.memory);
    let is_below = |prefix: &PathPrefix| memory.path.as_str().starts_with(prefix.as_str());
    (filter.prefixes.is_empty() || filter.prefixes.iter().any(is_below))
        && (filter.kinds.is_empty()
            || memory.attributes.kind.as_ref().is_some_and(|kind| filter.kinds.contains(kind)))
        && filter.tags.iter().all(|tag| memory.attributes.tags.contains(tag))
        && filter.created.holds(memory.created_at)
        && filter.updated.holds(memory.updated_at)
}

fn check_shown(memory: &KnownMemory, hit: &Hit, request: &SearchRequest) -> Result<(), String> {
    let text = memory.text.as_deref().unwrap_or_default();
    let content = hit.memory.content.as_ref().and_then(|content| content.text());
    let is_right = hit.memory.store == memory.store
        && hit.memory.path.as_str() == memory.path
        && hit.memory.attributes == memory.attributes
        && content == (request.view == View::Full).then_some(text)
        && hit.explanation.is_some() == request.explain;
    if !is_right {
        return Err(format!("shown as something else: {}", hit.memory.id));
    }
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !line.contains(&hit.snippet.text) {
        return Err(format!("a snippet of another text: {}", hit.memory.id));
    }
    match &hit.explanation {
        None => Ok(()),
        Some(why) => {
            let moved = why.directory_prior + why.recency + why.importance + why.pinned;
            let sum = why.fused * why.author_boost + moved;
            let is_sum = (sum - hit.score).abs() < 1e-4;
            is_sum.then_some(()).ok_or(format!("explained {sum}, scored {}", hit.score))
        }
    }
}

/// Whether two answers are the same for somebody who may not follow the feeds: bit for bit.
pub(crate) fn compare(
    grown: &Grown,
    caller: &Caller,
    real: &Result<SearchAnswer, Error>,
    twin: &Result<SearchAnswer, Error>,
) -> Result<(), String> {
    let (real, twin) = match (real, twin) {
        (Ok(real), Ok(twin)) => (real, twin),
        (Err(real), Err(twin)) if real.to_string() == twin.to_string() => return Ok(()),
        (real, twin) => return Err(format!("answers {real:?} and {twin:?}")),
    };
    let show = |answer: &SearchAnswer| {
        let line = |hit: &Hit| format!("  {} {} {:?}", hit.memory.id, hit.score, hit.explanation);
        answer.hits.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    let is_same_hit = |(a, b): (&Hit, &Hit)| {
        a.score.to_bits() == b.score.to_bits()
            && a.memory == b.memory
            && a.snippet == b.snippet
            && a.explanation == b.explanation
    };
    let mut pairs = real.hits.iter().zip(&twin.hits);
    if real.hits.len() != twin.hits.len() || !pairs.all(is_same_hit) {
        return Err(format!("with what is hidden\n{}\nwithout it\n{}", show(real), show(twin)));
    }
    if real.is_complete != twin.is_complete {
        return Err(format!("complete {} and {}", real.is_complete, twin.is_complete));
    }
    let told = |answer: &SearchAnswer| -> Vec<(StoreId, u64)> {
        let may_follow = |store| grown.known.may_follow(caller, store, grown.now);
        answer.indexed_through.iter().filter(|(store, _)| !may_follow(*store)).copied().collect()
    };
    if told(real) != told(twin) {
        return Err("told how far vectors reach".into());
    }
    Ok(())
}
