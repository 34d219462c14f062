//! Graphs made of claims by hand: what comes, what goes, and that what goes leaves nothing.

use super::*;
use crate::claim::{Mention, Trust};
use crate::ontology::Label;
use loci_model::{MemoryId, StoreId};

fn store() -> StoreId {
    StoreId::from_bytes([7; 16])
}

fn memory(number: u8) -> MemoryId {
    MemoryId::from_bytes([number; 16])
}

fn source(number: u8) -> Source {
    let said = Timestamp::from_micros(i64::from(number) * 86_400_000_000);
    Source { memory: memory(number), said, expires_at: None, dismissed: Vec::new() }
}

fn claim(subject: &str, relation: Relation, object: &str) -> Claim {
    Claim {
        subject: Mention { name: subject.into(), label: Some(Label::Person) },
        relation,
        object: Mention { name: object.into(), label: None },
        is_negated: false,
        valid_at: None,
        invalid_at: None,
        aspect: Aspect::Other,
        is_additional: false,
        span: 0..1,
        confidence: 0.9,
        reader: "test".into(),
        trust: Trust::Rules,
    }
}

fn graph(said: &[(u8, &[Claim])]) -> Graph {
    let mut graph = Graph::new(store());
    for (number, claims) in said {
        graph.put(&source(*number), claims.to_vec());
    }
    graph.settle();
    graph
}

fn texts(graph: &Graph) -> Vec<String> {
    let (facts, _) = graph.list(&Filter::default(), None, 0, 100);
    facts.into_iter().map(|fact| fact.text).collect()
}

fn seek(graph: &Graph, text: &str, filter: &Filter) -> Ranked {
    let scores = Scores::default();
    graph.seek(&Seeking {
        text,
        scores: &scores,
        filter,
        center: None,
        recency: 0.0,
        diversity: 0.0,
        now: Timestamp::from_micros(0),
        limits: (10, 10, 10),
    })
}

#[test]
fn what_only_a_memory_supported_goes_with_it() {
    let acme = claim("Ana", Relation::EmployedAt, "Acme");
    let tea = claim("Ana", Relation::Likes, "tea");
    let mut known = graph(&[(1, &[acme.clone(), tea.clone()]), (2, &[acme])]);
    assert_eq!(texts(&known), ["Ana likes tea", "Ana works at Acme"]);
    known.remove(memory(1));
    known.settle();
    assert_eq!(texts(&known), ["Ana works at Acme"]);
    let (facts, _) = known.list(&Filter::default(), None, 0, 10);
    assert_eq!(facts[0].sources, [memory(2)]);
    assert!(known.entity_called("tea").is_none(), "nobody mentions it any more");
    known.remove(memory(2));
    known.settle();
    assert!(known.is_empty() && known.entity_called("Ana").is_none());
}

#[test]
fn names_of_memories_that_are_gone_are_not_shown() {
    let mut known = graph(&[
        (1, &[claim("ANA!", Relation::Likes, "tea")]),
        (2, &[claim("ANA!", Relation::Likes, "jam")]),
        (3, &[claim("Ana", Relation::Likes, "rye")]),
    ]);
    assert_eq!(known.entity_called("ana").unwrap().name, "ANA!");
    known.remove(memory(1));
    known.remove(memory(2));
    known.settle();
    assert_eq!(known.entity_called("ana").unwrap().name, "Ana");
}

#[test]
fn a_move_closes_the_old_home_and_going_back_opens_it() {
    let rome = claim("Ana", Relation::LivesAt, "Rome");
    let oslo = claim("Ana", Relation::LivesAt, "Oslo");
    let mut known = graph(&[(1, &[rome]), (2, &[oslo])]);
    assert_eq!(texts(&known), ["Ana lives in Oslo", "Ana lived in Rome"]);
    let then = Filter { true_at: Some(source(1).said), ..Filter::default() };
    assert_eq!(known.list(&then, None, 0, 10).0[0].object_name, "Rome");
    known.remove(memory(2));
    known.settle();
    assert_eq!(texts(&known), ["Ana lives in Rome"]);
}

#[test]
fn the_same_memories_give_the_same_ids_in_whatever_order_they_come() {
    let said: Vec<(u8, Vec<Claim>)> = (1..20)
        .map(|number| {
            let place = ["Rome", "Oslo", "Bern"][usize::from(number) % 3];
            let thing = ["tea", "jam"][usize::from(number) % 2];
            let lives = claim("Ana", Relation::LivesAt, place);
            (number, vec![lives, claim("Ben", Relation::Likes, thing)])
        })
        .collect();
    let (mut forward, mut backward) = (Graph::new(store()), Graph::new(store()));
    for (number, claims) in &said {
        forward.put(&source(*number), claims.clone());
        forward.settle();
    }
    for (number, claims) in said.iter().rev() {
        backward.put(&source(*number), claims.clone());
    }
    backward.settle();
    let all = |graph: &Graph| graph.list(&Filter::default(), None, 0, 1000).0;
    let sorted = |graph: &Graph| {
        let mut facts = all(graph);
        facts.sort_by_key(|fact| fact.id);
        facts
    };
    assert_eq!(sorted(&forward), sorted(&backward));
    let ids: HashSet<FactId> = all(&forward).iter().map(|fact| fact.id).collect();
    assert_eq!(ids.len(), all(&forward).len(), "each has its own");
}

#[test]
fn a_dismissed_fact_stays_away_until_somebody_else_says_it() {
    let tea = claim("Ana", Relation::Likes, "tea");
    let mut known = graph(&[(1, std::slice::from_ref(&tea))]);
    let mark = known.list(&Filter::default(), None, 0, 1).0[0].mark();
    known.put(&Source { dismissed: vec![mark], ..source(1) }, vec![tea.clone()]);
    known.settle();
    assert!(known.is_empty());
    known.put(&source(2), vec![tea]);
    known.settle();
    assert_eq!(texts(&known), ["Ana likes tea"]);
}

#[test]
fn what_expired_is_forgotten() {
    let mut known = Graph::new(store());
    let end = Timestamp::from_micros(1000);
    let tea = claim("Ana", Relation::Likes, "tea");
    known.put(&Source { expires_at: Some(end), ..source(1) }, vec![tea]);
    known.settle();
    assert!(!known.has_expired(Timestamp::from_micros(999)) && known.has_expired(end));
    known.expire(end);
    known.settle();
    assert!(known.is_empty() && !known.has_expired(end));
}

#[test]
fn words_relations_and_labels_find_facts() {
    let known = graph(&[
        (1, &[claim("Ana", Relation::EmployedAt, "Acme")]),
        (2, &[claim("Ana", Relation::Likes, "board games")]),
        (3, &[claim("Ben", Relation::Likes, "tea")]),
    ]);
    let first = |text, filter: &Filter| seek(&known, text, filter).facts[0].1.text.clone();
    assert_eq!(first("any board game?", &Filter::default()), "Ana likes board games");
    assert_eq!(first("what about Ben", &Filter::default()), "Ben likes tea");
    let works = Filter::by_names(Some(&["EmployedAt".into()]), None);
    assert_eq!(first("board games", &works), "Ana works at Acme");
    let nothing = Filter::by_names(Some(&["employed_at".into()]), None);
    assert!(seek(&known, "board games", &nothing).facts.is_empty());
    let people = Filter::by_names(None, Some(&["Person".into()]));
    let found = seek(&known, "tea", &people);
    assert!(found.entities.iter().all(|(_, one)| one.labels == [Label::Person]));
    assert_eq!(found.entities.len(), 2);
}

#[test]
fn what_is_around_an_entity_comes_first_and_what_is_far_not_at_all() {
    let known = graph(&[
        (1, &[claim("Ana", Relation::Likes, "tea")]),
        (2, &[claim("Ben", Relation::Likes, "tea")]),
        (3, &[claim("Cem", Relation::Likes, "jam")]),
    ]);
    let center = known.entity_called("Ana").map(|ana| ana.id);
    let (scores, filter) = (Scores::default(), Filter::default());
    let seeking = Seeking {
        text: "likes",
        scores: &scores,
        filter: &filter,
        center,
        recency: 0.0,
        diversity: 0.0,
        now: Timestamp::from_micros(0),
        limits: (10, 10, 10),
    };
    let texts: Vec<String> =
        known.seek(&seeking).facts.into_iter().map(|(_, fact)| fact.text).collect();
    assert_eq!(texts, ["Ana likes tea", "Ben likes tea"]);
}

#[test]
fn a_few_facts_of_one_theme_are_a_community() {
    let work = [
        claim("Ana", Relation::EmployedAt, "Acme"),
        claim("Ana", Relation::Uses, "Rust"),
        claim("Ana", Relation::WorksOn, "Atlas"),
    ];
    let found = seek(&graph(&[(1, &work)]), "work", &Filter::default());
    let [(_, community)] = found.communities.as_slice() else { panic!("{found:?}") };
    assert_eq!(community.name, "Ana: work");
    assert!(community.summary.contains("Ana uses Rust"), "{}", community.summary);
}

#[test]
fn the_best_of_very_many_are_those_that_come_first_when_all_are_put_in_order() {
    // A hundred people, each with things of three themes; some words of the question are in many.
    let relations = [Relation::Likes, Relation::EmployedAt, Relation::LivesAt];
    let said: Vec<Claim> = (0..6000u32)
        .map(|n| {
            let subject = format!("Person {}", n % 97);
            let object = format!("{} {}", ["tea", "Harbour", "Velo"][n as usize % 3], n / 7);
            claim(&subject, relations[n as usize % 3], &object)
        })
        .collect();
    let graph = graph(&[(1, &said[..3000]), (2, &said[3000..])]);
    let (filter, scores) = (Filter::default(), Scores::default());
    let ask = |limits| {
        graph.seek(&Seeking {
            text: "who drinks tea near the harbour",
            scores: &scores,
            filter: &filter,
            center: None,
            recency: 0.3,
            diversity: 0.0,
            now: source(3).said,
            limits,
        })
    };
    // So many are wanted that everything has to be put in order.
    let (few, all) = (ask((10, 5, 2)), ask((100_000, 5, 100_000)));
    assert_eq!((few.facts.len(), few.entities.len(), few.communities.len()), (10, 5, 2));
    assert!(all.facts.len() > 2000, "{} facts", all.facts.len());
    assert_eq!(few.facts[..], all.facts[..10]);
    assert_eq!(few.entities, all.entities);
    assert_eq!(few.communities[..], all.communities[..2]);
    assert!(ask((0, 0, 0)).facts.is_empty());
}

#[test]
fn a_name_that_is_forgotten_is_not_found_by_its_words_whoever_has_its_number_next() {
    let mut known = graph(&[
        (1, &[claim("Ana", Relation::Likes, "board games"), claim("Ana", Relation::Uses, "Rust")]),
        (2, &[claim("Ana", Relation::Likes, "board meetings")]),
    ]);
    known.remove(source(1).memory);
    known.settle();
    let names = |known: &Graph, text| {
        let found = seek(known, text, &Filter::default());
        found.entities.into_iter().map(|(_, one)| one.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&known, "which board game?"), ["board meetings", "Ana"]);
    known.put(&source(3), vec![claim("Ben", Relation::Likes, "chess")]);
    known.settle();
    let found = names(&known, "games and chess");
    assert_eq!(found[0], "chess");
    assert!(!found.contains(&"board games".to_owned()), "{found:?}");
    let ana = known.entity_called("Ana").unwrap();
    assert_eq!((ana.facts, ana.summary.as_str()), (1, "Ana likes board meetings"));
}
