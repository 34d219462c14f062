//! Looks in the places that a query may reach: the user's own, and what oracles know. Each is searched
//! as whoever may read it, so that nothing else can be in an answer.

use super::access::Access;
use super::query::{KnowledgeLevel, Query};
use super::render::{CommunityBody, EntityBody, EpisodeBody, FactBody, Found};
use loci_engine::knowledge::{Known, Seek};
use loci_engine::search::Reach;
use loci_engine::{Context, Engine, Error, Purpose};
use loci_model::StoreId;

/// Finds what a query asks for.
pub(super) async fn find(engine: &Engine, access: &Access, query: &Query) -> Result<Found, Error> {
    let mut known: Vec<Known> = Vec::new();
    if query.level != KnowledgeLevel::Oracle
        && let Some(store) = access.own(engine, Purpose::Search).await?
    {
        known.push(look(engine, &access.context, store, query).await?);
    }
    if query.level != KnowledgeLevel::User {
        for oracle in access.oracles(query.oracles.as_deref()) {
            let Some(knowledge) = access.knowledge(engine, oracle).await? else { continue };
            if let Some(store) = knowledge.store(engine, Purpose::Search).await? {
                known.push(look(engine, &knowledge.context, store, query).await?);
            }
        }
    }
    let (mut facts, mut entities) = (Vec::new(), Vec::new());
    let (mut episodes, mut communities) = (Vec::new(), Vec::new());
    for one in known {
        facts.push(one.facts.into_iter().map(|(_, fact)| FactBody::of(fact)).collect());
        entities.push(one.entities.into_iter().map(EntityBody::of).collect());
        episodes.push(one.episodes.iter().filter_map(|hit| EpisodeBody::of(&hit.memory)).collect());
        let of = |(_, community)| CommunityBody::of(community);
        communities.push(one.communities.into_iter().map(of).collect());
    }
    Ok(Found {
        strategy_used: query.strategy.name().to_owned(),
        query: query.text.clone(),
        facts: in_turn(facts, query.limits.facts),
        entities: in_turn(entities, query.limits.entities),
        episodes: in_turn(episodes, query.limits.episodes),
        communities: in_turn(communities, query.limits.communities),
        ..Found::default()
    })
}

async fn look(
    engine: &Engine,
    context: &Context,
    store: StoreId,
    query: &Query,
) -> Result<Known, Error> {
    let seek = Seek {
        strategy: query.strategy,
        limits: query.limits,
        filter: query.filter.clone(),
        center: query.center,
        ..Seek::new(Reach::Store(store), query.text.clone())
    };
    engine.seek(context, &seek).await
}

/// The best of each place by turns, the user's first: how well something fits cannot be compared
/// between places, and none shall crowd out another.
fn in_turn<T>(places: Vec<Vec<T>>, limit: usize) -> Vec<T> {
    let mut places: Vec<_> = places.into_iter().map(Vec::into_iter).collect();
    let mut all = Vec::new();
    loop {
        let before = all.len();
        all.extend(places.iter_mut().filter_map(Iterator::next));
        if all.len() == before || all.len() >= limit {
            all.truncate(limit);
            return all;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_place_crowds_out_another() {
        assert_eq!(in_turn(vec![vec![1, 2, 3], vec![7], vec![]], 10), [1, 7, 2, 3]);
        assert_eq!(in_turn(vec![vec![1, 2, 3], vec![7, 8]], 3), [1, 7, 2]);
        assert_eq!(in_turn(vec![vec![1]], 0), [0; 0]);
        assert_eq!(in_turn(Vec::<Vec<i32>>::new(), 5), [0; 0]);
    }
}
