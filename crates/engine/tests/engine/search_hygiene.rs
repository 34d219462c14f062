//! What a store holds more than once, and what becomes of a repeat where the store minds.

use crate::stage::Stage;
use loci_engine::Error;
use loci_engine::search::{DuplicateGroup, DuplicatesReport, DuplicatesRequest};
use loci_model::store::Repeats;
use loci_model::{Edit, Level, MemoryPath, StoreId};

async fn report(stage: &Stage, store: StoreId, threshold: f32, limit: usize) -> DuplicatesReport {
    let request = DuplicatesRequest { threshold, limit };
    stage.engine.duplicates(&stage.admin, store, &request).await.unwrap()
}

fn shown(groups: &[DuplicateGroup]) -> Vec<Vec<&str>> {
    let mut shown = Vec::new();
    for group in groups {
        assert!(group.memories.iter().all(|memory| memory.content.is_none()));
        shown.push(group.memories.iter().map(|memory| memory.path.as_str()).collect());
    }
    shown
}

#[tokio::test]
async fn equal_and_nearly_equal_texts_are_reported() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let long = "the ship leaves the old harbour at seven in the morning with tea and lamps aboard";
    for (path, text) in [
        ("/a", long.to_owned()),
        ("/b", long.to_owned()),
        ("/c", long.replace("seven", "eight")),
        ("/d", "a violin is played at night in the small room above the empty shop".into()),
        ("/e", "tea".into()),
        ("/f", "tea".into()),
        ("/g", "tea".into()),
    ] {
        stage.put(store, path, &text).await;
        stage.pass_secs(1);
    }
    let found = report(&stage, store, 0.6, 10).await;
    assert_eq!(shown(&found.exact), [vec!["/e", "/f", "/g"], vec!["/a", "/b"]]);
    assert_eq!(shown(&found.near), [["/a", "/c"]], "one of the equals stands for them");
    assert!((0.6..1.0).contains(&found.near[0].similarity));
    assert!(!found.is_truncated);

    let strict = report(&stage, store, 1.0, 10).await;
    assert!(strict.near.is_empty() && strict.exact.len() == 2);
    let short = report(&stage, store, 0.6, 1).await;
    assert_eq!(shown(&short.exact), [["/e", "/f", "/g"]]);
    assert!(short.is_truncated);
}

#[tokio::test]
async fn the_report_is_for_readers_and_has_bounds() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let searcher = stage.somebody("searcher").await;
    let grantee = loci_model::Grantee::Principal(searcher.caller.principal);
    let grant = loci_engine::NewGrant { grantee, level: Level::Search, expires_at: None };
    stage.engine.share(&stage.admin, store, grant).await.unwrap();
    let ask = async |who, threshold, limit| {
        let request = DuplicatesRequest { threshold, limit };
        stage.engine.duplicates(who, store, &request).await
    };
    assert!(matches!(ask(&searcher, 0.8, 10).await, Err(Error::Denied(_))));
    for (threshold, limit, field) in
        [(0.4, 10, "threshold"), (1.1, 10, "threshold"), (0.8, 0, "limit"), (0.8, 101, "limit")]
    {
        match ask(&stage.admin, threshold, limit).await {
            Err(Error::Invalid(invalid)) => assert_eq!(invalid.field, field),
            other => panic!("{field}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn repeats_are_kept_refused_or_merged_as_the_store_says() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let put = async |path: &str, text: &str| {
        let edit = Edit::put_text(MemoryPath::parse(path).unwrap(), text);
        stage.engine.commit_one(&stage.admin, store, edit, "api").await
    };
    let first = put("/a", "tea").await.unwrap().memory;
    assert!(put("/b", "tea").await.unwrap().is_created(), "nothing is minded by default");

    let set = async |repeats: Repeats| {
        stage.engine.set_policy(&stage.admin, store, repeats.into()).await.unwrap()
    };
    assert_eq!(set(Repeats::Refuse).await.policy.repeats, Repeats::Refuse);
    match put("/c", "tea").await {
        Err(Error::Repeat { memory, path }) => {
            assert_eq!((memory, path.as_str()), (first.id, "/a"));
        }
        other => panic!("{other:?}"),
    }
    assert!(put("/c", "coffee").await.unwrap().is_created());
    assert!(put("/c", "tea").await.is_ok(), "an update is no new memory");

    set(Repeats::Merge).await;
    let merged = put("/d", "tea").await.unwrap();
    assert_eq!((merged.memory.id, merged.operation), (first.id, None));
    assert_eq!(stage.paths(store, "tea").await.len(), 3);

    let stranger = stage.somebody("stranger").await;
    let refused = stage.engine.set_policy(&stranger, store, Repeats::Allow.into()).await;
    assert!(matches!(refused, Err(Error::NotFound("memory store"))));
}
