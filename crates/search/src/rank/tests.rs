//! Ranking as a whole, by hand: what a score is made of, and what moves it. Numbers that are tuned
//! are taken from where they are set, so that tuning does not break what is checked here: the
//! rules.

use super::*;
use crate::index::fixture::{memory, with_tags};
use crate::text::TextQuery;
use crate::wanted::{Fusion, Recency, SearchFilter, Signals};
use loci_model::{Memory, PathPrefix};

/// The index of some memories; `n` has the id `n + 1`.
fn index(memories: &[Memory]) -> StoreIndex {
    let mut index = StoreIndex::new();
    memories.iter().for_each(|memory| index.put(memory));
    index.settle();
    index
}

/// Gives every memory one vector.
fn with_vectors(mut index: StoreIndex, memories: &[Memory], vectors: &[[f32; 2]]) -> StoreIndex {
    index.begin_vectors(1, 2);
    for (memory, vector) in memories.iter().zip(vectors) {
        index.set_vectors(memory.id, memory.head, &[vector.to_vec()]);
    }
    index
}

fn question<'q>(wanted: &'q Wanted, query: &'q TextQuery, authors: &'q [String]) -> Question<'q> {
    let now = Timestamp::from_micros(1_000_000_000);
    let is_strict = query.is_quoted();
    Question { wanted, query, is_strict, authors, trust: 1.0, now, depth: 100 }
}

fn ask(index: &StoreIndex, vector: Option<[f32; 2]>, wanted: &Wanted) -> Ranking {
    ask_trusting(index, vector, wanted, 1.0)
}

fn ask_trusting(
    index: &StoreIndex,
    vector: Option<[f32; 2]>,
    wanted: &Wanted,
    trust: f32,
) -> Ranking {
    let query = TextQuery::parse(&wanted.text);
    let authors = named_authors(&[index], &wanted.text);
    let lexical = match wanted.mode {
        Mode::Semantic => LexicalLeg::nothing(1),
        Mode::Hybrid | Mode::Lexical => lexical_leg(&[index], &query),
    };
    let question = Question { trust, ..question(wanted, &query, &authors) };
    let vector = vector.map(|vector| QueryVector::new(&vector));
    rank(&[(index, vector.as_ref())], &lexical, &question)
}

fn found(ranking: &Ranking) -> Vec<u128> {
    ranking.candidates.iter().map(|candidate| candidate.memory.as_u128()).collect()
}

fn of(ranking: &Ranking, id: u128) -> &Candidate {
    ranking.candidates.iter().find(|candidate| candidate.memory.as_u128() == id).unwrap()
}

#[track_caller]
fn near(a: f32, b: f32) {
    assert!((a - b).abs() < 1e-4, "{a} is not {b}");
}

/// Every score is the sum of what its explanation names.
#[track_caller]
fn adds_up(ranking: &Ranking) {
    for Candidate { score, why, .. } in &ranking.candidates {
        let moved = why.directory_prior + why.recency + why.importance + why.pinned;
        near(*score, why.fused * why.author_boost + moved);
    }
}

fn wanted(text: &str, mode: Mode) -> Wanted {
    Wanted { mode, ..Wanted::new(text, 10) }
}

#[test]
fn by_word_the_best_has_one_and_the_rest_its_share() {
    let memories =
        [memory(1, "/a/x", "tea tea tea"), memory(2, "/b/x", "tea cup"), memory(3, "/c/x", "lamp")];
    let ranking = ask(&index(&memories), None, &wanted("tea", Mode::Lexical));
    assert_eq!(found(&ranking), [1, 2]);
    let (best, next) = (&of(&ranking, 1).why, &of(&ranking, 2).why);
    near(best.lexical_normalised, 1.0);
    near(next.lexical_normalised, next.lexical / best.lexical);
    near(best.lexical_weight, 1.0);
    near(next.fused, next.lexical_normalised);
    assert_eq!(best.words, ["tea"]);
    assert_eq!(best.semantic, None);
    adds_up(&ranking);
}

#[test]
fn by_meaning_similarities_are_stretched_between_the_least_and_the_most() {
    let memories = [memory(1, "/a/x", "p"), memory(2, "/b/x", "q"), memory(3, "/c/x", "r")];
    let index = with_vectors(index(&memories), &memories, &[[1.0, 0.0], [0.6, 0.8], [-0.8, 0.6]]);
    let mut ranking = ask(&index, Some([1.0, 0.0]), &wanted("anything", Mode::Semantic));
    assert_eq!(found(&ranking), [1, 2, 3]);
    ranking.rescore(10, |candidate| match candidate.memory.as_u128() {
        1 => Some(1.0),
        2 => Some(0.6),
        _ => Some(-0.8),
    });
    for (id, similarity, normalised) in [(1, 1.0, 1.0), (2, 0.6, 1.4 / 1.8), (3, -0.8, 0.0)] {
        let why = &of(&ranking, id).why;
        assert_eq!(why.semantic, Some(similarity));
        // Quantised numbers set the ends; exact ones move within them.
        assert!((why.semantic_normalised - normalised).abs() < 0.02, "{why:?}");
        near(why.lexical_weight, 0.0);
    }
    adds_up(&ranking);
}

#[test]
fn the_mean_has_the_weight_that_was_asked_for() {
    let memories = [memory(1, "/a/x", "tea"), memory(2, "/b/x", "lamp")];
    let index = with_vectors(index(&memories), &memories, &[[0.0, 1.0], [1.0, 0.0]]);
    for (weight, first) in [(0.0, 2), (0.2, 2), (0.8, 1), (1.0, 1)] {
        let fusion = Fusion::Convex { lexical_weight: Some(weight) };
        let asked = Wanted { fusion, ..wanted("tea", Mode::Hybrid) };
        let ranking = ask(&index, Some([1.0, 0.0]), &asked);
        assert_eq!(found(&ranking)[0], first, "{weight}");
        let why = &of(&ranking, 1).why;
        let mean = weight * why.lexical_normalised + (1.0 - weight) * why.semantic_normalised;
        near(why.fused, mean);
        near(why.lexical_weight, weight);
        adds_up(&ranking);
    }
}

#[test]
fn a_model_that_does_not_know_the_language_has_less_to_say() {
    let memories = [memory(1, "/a/x", "tea"), memory(2, "/b/x", "lamp"), memory(3, "/c/x", "cup")];
    let vectors = [[0.0, 1.0], [1.0, 0.0], [0.6, 0.8]];
    let index = with_vectors(index(&memories), &memories, &vectors);
    let weight = |text: &str, trust: f32, mode: Mode| {
        let ranking = ask_trusting(&index, Some([1.0, 0.0]), &wanted(text, mode), trust);
        adds_up(&ranking);
        (ranking.candidates[0].why.lexical_weight, found(&ranking))
    };
    let (full, _) = weight("tea", 1.0, Mode::Hybrid);
    let (half, _) = weight("tea", 0.5, Mode::Hybrid);
    near(half, 1.0 - (1.0 - full) / 2.0);
    let (_, order) = weight("tea", 0.05, Mode::Hybrid);
    assert_eq!(order, [1, 2, 3], "words first, then what meaning says");
    // Where no word is found, and where only meaning is asked for, it is all there is.
    near(weight("piano", 0.05, Mode::Hybrid).0, 0.0);
    near(weight("tea", 0.05, Mode::Semantic).0, 0.0);
}

#[test]
fn reciprocal_ranks_by_hand() {
    // By word: 1, 2. By meaning: 3, 2, 1.
    let memories =
        [memory(1, "/a/x", "tea tea"), memory(2, "/b/x", "tea cup"), memory(3, "/c/x", "lamp")];
    let index = with_vectors(index(&memories), &memories, &[[0.0, 1.0], [0.6, 0.8], [1.0, 0.0]]);
    let k = 10.0;
    let asked = Wanted { fusion: Fusion::Rrf { k }, ..wanted("tea", Mode::Hybrid) };
    let ranking = ask(&index, Some([1.0, 0.0]), &asked);
    let place = |rank: f32| 0.5 / (k + rank);
    let sums = [(1, place(1.0) + place(3.0)), (2, place(2.0) + place(2.0)), (3, place(1.0))];
    let best = sums.iter().map(|(_, sum)| *sum).fold(0.0, f32::max);
    for (id, sum) in sums {
        near(of(&ranking, id).why.fused, sum / best);
    }
    adds_up(&ranking);
    let mut exact = ask(&index, Some([1.0, 0.0]), &asked);
    exact.rescore(10, |_| Some(0.5));
    let scores = |ranking: &Ranking| -> Vec<f32> {
        ranking.candidates.iter().map(|candidate| candidate.score).collect()
    };
    assert_eq!(scores(&exact), scores(&ranking), "ranks do not move with exact similarities");
}

#[test]
fn equals_have_their_ranks_by_id_however_the_index_was_filled() {
    let memories: Vec<Memory> = (1..=6).map(|n| memory(n, &format!("/{n}/x"), "tea")).collect();
    let backwards: Vec<Memory> = memories.iter().rev().cloned().collect();
    for fusion in [Fusion::default(), Fusion::Rrf { k: 3.0 }] {
        let asked = Wanted { fusion, ..wanted("tea", Mode::Lexical) };
        let show = |memories: &[Memory]| {
            let ranking = ask(&index(memories), None, &asked);
            let pair = |one: &Candidate| (one.memory.as_u128(), one.score.to_bits());
            ranking.candidates.iter().map(pair).collect::<Vec<_>>()
        };
        assert_eq!(show(&memories), show(&backwards), "{fusion:?}");
        assert_eq!(show(&memories)[0].0, 1);
    }
}

#[test]
fn without_vectors_words_decide_alone_and_one_without_is_in_the_middle() {
    let memories = [memory(1, "/a/x", "tea"), memory(2, "/b/x", "lamp"), memory(3, "/c/x", "cup")];
    let bare = index(&memories);
    let ranking = ask(&bare, Some([1.0, 0.0]), &wanted("tea", Mode::Hybrid));
    assert_eq!(found(&ranking), [1]);
    near(of(&ranking, 1).why.lexical_weight, 1.0);

    let some = with_vectors(bare, &memories[1..], &[[1.0, 0.0], [0.0, 1.0]]);
    let ranking = ask(&some, Some([1.0, 0.0]), &wanted("tea", Mode::Hybrid));
    let why = &of(&ranking, 1).why;
    assert_eq!(why.semantic, None);
    near(why.semantic_normalised, 0.5);
}

#[test]
fn what_has_no_vectors_yet_is_found_by_word_among_many_too() {
    let memories = [memory(1, "/a/x", "tea"), memory(2, "/b/x", "lamp"), memory(3, "/c/x", "cup")];
    let index = with_vectors(index(&memories), &memories[1..2], &[[1.0, 0.0]]);
    let (words, asked) = (TextQuery::parse("tea"), wanted("tea", Mode::Hybrid));
    let lexical = lexical_leg(&[&index], &words);
    let query = QueryVector::new(&[1.0, 0.0]);
    let question = question(&asked, &words, &[]);
    let (parts, indexes) = ([(&index, Some(&query))], [&index]);
    let gate = Gate::new(&indexes, &question);
    for scope in [Scope::Whole, Scope::Picked { among: 1 }] {
        let dense = dense_leg(&parts, &gate, scope, vec![vec![0]]);
        let fused = Fused::new(&indexes, &lexical, Some(&dense), &question, &gate);
        let mut found: Vec<u32> = fused.scored.iter().map(|one| one.doc).collect();
        found.sort_unstable();
        // The third has neither the word nor a vector: nobody knows anything about it.
        assert_eq!(found, [0, 1], "{scope:?}");
    }
}

#[test]
fn equal_similarities_stay_equal_when_compared_exactly() {
    let memories = [memory(1, "/a/x", "tea"), memory(2, "/b/x", "lamp")];
    let index = with_vectors(index(&memories), &memories, &[[0.6, 0.8], [0.6, 0.8]]);
    let mut ranking = ask(&index, Some([0.8, 0.6]), &wanted("tea", Mode::Hybrid));
    ranking.rescore(10, |candidate| candidate.why.semantic.map(|before| before + 0.004));
    assert_eq!(found(&ranking), [1, 2]);
    assert!(ranking.candidates.iter().all(|one| (0.0..2.0).contains(&one.score)));
    adds_up(&ranking);
}

#[test]
fn an_author_named_is_preferred_and_only_then() {
    let said =
        |n: u128, who: &str, what: &str| memory(n, &format!("/{n}/x"), &format!("{who}: {what}"));
    let mut memories: Vec<Memory> = (1..=3).map(|n| said(n, "Ana", "tea")).collect();
    memories.extend((4..=6).map(|n| said(n, "Bo", "tea")));
    memories.push(said(7, "Carl", "tea"));
    let index = index(&memories);
    let boosts = |text: &str| -> Vec<u128> {
        let ranking = ask(&index, None, &wanted(text, Mode::Lexical));
        adds_up(&ranking);
        let boosted = ranking.candidates.iter().filter(|one| one.why.author_boost > 1.0);
        let mut boosted: Vec<u128> = boosted.map(|one| one.memory.as_u128()).collect();
        boosted.sort_unstable();
        boosted
    };
    assert_eq!(boosts("what tea does Ana drink?"), [1, 2, 3]);
    assert_eq!(boosts("bo's tea"), [4, 5, 6]);
    assert!(boosts("tea of Ana and Bo").is_empty(), "two names say nothing");
    assert!(boosts("Carl tea").is_empty(), "one memory does not make an author");
    assert!(boosts("tea").is_empty());
    assert_eq!(found(&ask(&index, None, &wanted("Ana tea", Mode::Lexical))).len(), 7, "no filter");
}

#[test]
fn authors_count_over_all_that_is_searched() {
    let said = |n: u128, who: &str| memory(n, &format!("/{n}/x"), &format!("{who}: tea"));
    let (one, other) = (index(&[said(1, "Ana"), said(2, "Ana")]), index(&[said(3, "Ana")]));
    assert!(named_authors(&[&one], "Ana").is_empty());
    assert_eq!(named_authors(&[&one, &other], "Ana's tea"), ["ana"]);
    assert_eq!(text_to_embed(&["ana".into()], "What does Ana drink?"), "What does drink?");
}

#[test]
fn a_directory_lends_its_best() {
    let memories = [
        memory(1, "/rich/1", "tea"),
        memory(2, "/rich/one/deeper", "tea"),
        memory(3, "/rich/2", "tea tea tea lamp"),
        memory(4, "/poor/1", "tea"),
    ];
    let ranking = ask(&index(&memories), None, &wanted("tea", Mode::Lexical));
    let prior = |id: u128| of(&ranking, id).why.directory_prior;
    let before = |id: u128| of(&ranking, id).why.fused;
    near(prior(1), prior(3));
    assert!(prior(1) > prior(4));
    // One memory alone is the mean of itself, wherever it is.
    near(prior(2) / before(2), prior(4) / before(4));
    near(prior(1) / ((before(1) + before(3)) / 2.0), prior(4) / before(4));
    adds_up(&ranking);
}

#[test]
fn signals_add_what_they_are_worth() {
    let second = 1_000_000;
    let mut memories = [
        memory(1, "/a/x", "tea"),
        memory(2, "/b/x", "tea"),
        memory(3, "/c/x", "tea"),
        memory(4, "/d/x", "tea"),
    ];
    memories[0].updated_at = Timestamp::from_micros(1_000 * second);
    memories[1].updated_at = Timestamp::from_micros(990 * second);
    memories[2].attributes.importance = Some(100);
    memories[3].attributes.pinned = true;
    let recency = Some(Recency { weight: 0.4, half_life_secs: 10.0 });
    let signals = Signals { recency, importance: 0.2, pinned: 0.3 };
    let asked = Wanted { signals, ..wanted("tea", Mode::Lexical) };
    let ranking = ask(&index(&memories), None, &asked);
    near(of(&ranking, 1).why.recency, 0.4);
    near(of(&ranking, 2).why.recency, 0.2);
    near(of(&ranking, 3).why.recency, 0.0);
    near(of(&ranking, 1).why.importance, 0.1);
    near(of(&ranking, 3).why.importance, 0.2);
    near(of(&ranking, 4).why.pinned, 0.3);
    near(of(&ranking, 1).why.pinned, 0.0);
    adds_up(&ranking);
}

#[test]
fn filters_come_before_normalising() {
    let mut memories = vec![memory(1, "/a/x", "tea tea tea"), memory(2, "/b/x", "tea cup")];
    memories.push(with_tags(memory(3, "/b/y", "tea cup lamp"), &["warm"]));
    let index = index(&memories);
    let prefixes = vec![PathPrefix::parse("/b/").unwrap()];
    let filter = SearchFilter { prefixes, ..SearchFilter::default() };
    let ranking = ask(&index, None, &Wanted { filter, ..wanted("tea", Mode::Lexical) });
    assert_eq!(found(&ranking), [2, 3]);
    near(of(&ranking, 2).why.lexical_normalised, 1.0);
    let ranking = ask(&index, None, &wanted("warm", Mode::Lexical));
    assert_eq!(found(&ranking), [3], "tags are words too");
}

#[test]
fn the_line_about_a_memory_counts_as_its_words() {
    let mut memories = vec![memory(1, "/a/x", "tea"), memory(2, "/b/x", "tea")];
    memories[1].attributes.summary = Some("What to drink when it is cold".into());
    let index = index(&memories);
    assert_eq!(found(&ask(&index, None, &wanted("cold", Mode::Lexical))), [2]);
}

#[test]
fn diversity_by_hand() {
    // Two that say the same, and a weaker one that says something else.
    let memories = [
        memory(1, "/a/x", "p"),
        memory(2, "/b/x", "q"),
        memory(3, "/c/x", "r"),
        memory(4, "/d/x", "s"),
    ];
    let vectors = [[0.8, 0.6], [0.8, 0.6], [0.6, -0.8], [-1.0, 0.0]];
    let index = with_vectors(index(&memories), &memories, &vectors);
    let query = QueryVector::new(&[1.0, 0.0]);
    let parts = [(&index, Some(&query))];
    let spread = |diversity: f32, limit: usize| {
        let mut ranking = ask(&index, Some([1.0, 0.0]), &wanted("anything", Mode::Semantic));
        assert_eq!(found(&ranking), [1, 2, 3, 4]);
        ranking.spread(&parts, diversity, limit);
        found(&ranking)
    };
    assert_eq!(spread(0.0, 4), [1, 2, 3, 4]);
    // After the first: 0.5 * 1 - 0.5 * 1 for its double, 0.5 * 0.89 - 0 for the third.
    assert_eq!(spread(0.5, 4), [1, 3, 2, 4]);
    // With nothing but difference, the opposite goes before the double.
    assert_eq!(spread(1.0, 4)[3], 2);
    assert_eq!(spread(0.5, 1), [1, 2, 3, 4], "only as many places as are wanted are spread");
}
