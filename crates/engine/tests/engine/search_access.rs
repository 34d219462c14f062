//! Who finds what: stores by grant, audiences, sessions and scopes of keys, through the whole
//! engine. The rule at large is tried with random worlds elsewhere; here stand the cases by name.

use crate::stage::{Stage, asking, full_key, paths_by_word};
use loci_engine::search::{AsOf, Mode, Reach, SearchRequest, Wanted};
use loci_engine::{Context, Error, NewAttachment, NewGrant, NewKey, NewSession};
use loci_model::{
    Access, At, Attributes, AttributesPatch, Audience, Content, Edit, EditOp, Expect, Grantee,
    Level, MemoryPath, OnSame, Power, StoreId, Visibility,
};
use std::collections::BTreeMap;

fn lexical(store: StoreId, text: &str) -> SearchRequest {
    asking(store, Wanted { mode: Mode::Lexical, ..Wanted::new(text, 100) })
}

fn everywhere(text: &str) -> SearchRequest {
    SearchRequest { reach: Reach::Everywhere, ..lexical(StoreId::from_u128(0), text) }
}

async fn found(stage: &Stage, who: &Context, request: &SearchRequest) -> Vec<String> {
    paths_by_word(&stage.engine.search(who, request).await.unwrap())
}

async fn share(stage: &Stage, store: StoreId, who: &Context, level: Level) {
    let grantee = Grantee::Principal(who.caller.principal);
    let grant = NewGrant { grantee, level, expires_at: None };
    stage.engine.share(&stage.admin, store, grant).await.unwrap();
}

async fn hide(stage: &Stage, store: StoreId, path: &str, text: &str, visibility: Visibility) {
    let attributes = Attributes { visibility, ..Attributes::default() };
    let op = EditOp::Put {
        content: Some(Content::Text(text.into())),
        to: None,
        attributes: AttributesPatch::replace(attributes),
    };
    let at = At::Path(None, MemoryPath::parse(path).unwrap());
    let edit = Edit { at, expect: Expect::Anything, on_same: OnSame::Skip, op };
    stage.engine.commit_one(&stage.admin, store, edit, "api").await.unwrap();
}

#[tokio::test]
async fn what_may_not_be_searched_is_not_there() {
    let stage = Stage::new().await;
    let (mine, other) = (stage.store("mine").await.id, stage.store("other").await.id);
    stage.put(mine, "/mine", "tea").await;
    stage.put(other, "/other", "tea").await;
    let agent = stage.somebody("agent").await;
    let unknown = StoreId::from_u128(77);
    share(&stage, mine, &agent, Level::Search).await;

    assert_eq!(found(&stage, &agent, &lexical(mine, "tea")).await, ["/mine"]);
    assert_eq!(found(&stage, &agent, &everywhere("tea")).await, ["/mine"]);
    let refusal = |result: Result<_, Error>| match result {
        Err(error @ Error::NotFound("memory store")) => error.to_string(),
        other => panic!("{other:?}"),
    };
    for reach in [
        Reach::Store(other),
        Reach::Store(unknown),
        Reach::Stores(vec![mine, other]),
        Reach::Stores(vec![unknown, mine]),
    ] {
        let request = SearchRequest { reach, ..lexical(mine, "tea") };
        let text = refusal(stage.engine.search(&agent, &request).await);
        assert_eq!(text, "memory store not found", "{:?}", request.reach);
    }
    let both = SearchRequest { reach: Reach::Stores(vec![mine, other, mine]), ..everywhere("tea") };
    assert_eq!(found(&stage, &stage.admin, &both).await.len(), 2, "named twice, searched once");

    stage.engine.remove_store(&stage.admin, mine).await.unwrap();
    refusal(stage.engine.search(&agent, &lexical(mine, "tea")).await);
    assert!(found(&stage, &agent, &everywhere("tea")).await.is_empty());
    assert_eq!(found(&stage, &stage.admin, &everywhere("tea")).await, ["/other"]);
}

#[tokio::test]
async fn everywhere_is_exactly_what_policy_allows() {
    let stage = Stage::new().await;
    let mut stores = Vec::new();
    for name in ["direct", "everyone", "nobody", "ended"] {
        let store = stage.store(name).await.id;
        stage.put(store, &format!("/{name}"), "tea").await;
        stores.push(store);
    }
    let agent = stage.somebody("agent").await;
    share(&stage, stores[0], &agent, Level::Read).await;
    let open = NewGrant { grantee: Grantee::Everyone, level: Level::Search, expires_at: None };
    stage.engine.share(&stage.admin, stores[1], open.clone()).await.unwrap();
    let end = Some(stage.engine.seams().now().plus_secs(10));
    let ending = NewGrant { expires_at: end, ..open };
    stage.engine.share(&stage.admin, stores[3], ending).await.unwrap();
    let sorted = async |who: &Context| {
        let mut found = found(&stage, who, &everywhere("tea")).await;
        found.sort();
        found
    };
    assert_eq!(sorted(&agent).await, ["/direct", "/ended", "/everyone"]);
    stage.pass_secs(10);
    assert_eq!(sorted(&agent).await, ["/direct", "/everyone"]);
    assert_eq!(sorted(&stage.admin).await.len(), 4);

    let own = stage.engine.create_store(
        &agent,
        loci_engine::NewStore { name: "own".into(), ..loci_engine::NewStore::default() },
    );
    let own = own.await.unwrap().id;
    let edit = Edit::put_text(MemoryPath::parse("/own").unwrap(), "tea");
    stage.engine.commit_one(&agent, own, edit, "api").await.unwrap();
    assert_eq!(sorted(&agent).await, ["/direct", "/everyone", "/own"]);

    let limited = NewKey {
        principal: Some(agent.caller.principal),
        stores: Some(vec![stores[1], stores[2]]),
        power: Power::UpTo(Level::Search),
        ..full_key("limited")
    };
    let limited = stage.enter(&stage.key(limited).await.1).await;
    assert_eq!(sorted(&limited).await, ["/everyone"]);
}

#[tokio::test]
async fn models_find_what_is_meant_for_them_and_feel_nothing_else() {
    let (stage, _) = Stage::with_vectors().await;
    let store = stage.store("s").await.id;
    stage.put(store, "/1", "green tea").await;
    stage.put(store, "/2", "black tea").await;
    stage.follow().await;
    let key = NewKey { audience: Audience::Model, ..full_key("model") };
    let model = stage.enter(&stage.key(key).await.1).await;
    let request = asking(store, Wanted::new("green tea", 10));
    let before = stage.engine.search(&model, &request).await.unwrap();
    assert_eq!(before.hits.len(), 2);
    assert!(before.indexed_through.is_empty(), "a number would count what is hidden");

    for (n, visibility) in [(3, Visibility::Internal), (4, Visibility::Quarantine)] {
        hide(&stage, store, &format!("/{n}"), "green tea and a canary", visibility).await;
    }
    for is_followed in [false, true] {
        if is_followed {
            stage.follow().await;
        }
        let after = stage.engine.search(&model, &request).await.unwrap();
        assert_eq!(after, before, "not even scores move");
        assert_eq!(stage.search(&request).await.hits.len(), 4);
    }
    // What becomes visible is found, what stops to be is not.
    hide(&stage, store, "/3", "green tea and a canary", Visibility::Context).await;
    assert_eq!(found(&stage, &model, &lexical(store, "canary")).await, ["/3"]);
    hide(&stage, store, "/1", "green tea", Visibility::Internal).await;
    assert_eq!(found(&stage, &model, &lexical(store, "green")).await, ["/3"]);
}

#[tokio::test]
async fn only_those_who_may_follow_are_told_how_far_vectors_are() {
    let (stage, _) = Stage::with_vectors().await;
    let (store, empty) = (stage.store("s").await.id, stage.store("empty").await.id);
    stage.put(store, "/a", "tea").await;
    stage.put(empty, "/b", "x").await;
    stage.follow().await;
    let (searcher, reader) = (stage.somebody("searcher").await, stage.somebody("reader").await);
    share(&stage, store, &searcher, Level::Search).await;
    share(&stage, store, &reader, Level::Read).await;
    let request = asking(store, Wanted::new("tea", 1));
    let told = async |who: &Context, request: &SearchRequest| {
        stage.engine.search(who, request).await.unwrap().indexed_through
    };
    assert!(told(&searcher, &request).await.is_empty());
    assert_eq!(told(&reader, &request).await, [(store, 1)]);
    let wide = SearchRequest { reach: Reach::Everywhere, ..request };
    assert!(told(&searcher, &wide).await.is_empty());
    assert_eq!(told(&stage.admin, &wide).await, [(store, 1)], "only where something was found");
}

#[tokio::test]
async fn a_session_searches_what_is_attached() {
    let stage = Stage::new().await;
    let (inside, outside) = (stage.store("inside").await.id, stage.store("outside").await.id);
    stage.put(inside, "/in", "tea").await;
    stage.put(outside, "/out", "tea").await;
    let attachment = NewAttachment { store: inside, access: Access::ReadOnly, instructions: None };
    let new = NewSession {
        title: None,
        metadata: BTreeMap::new(),
        agent_id: "agent".into(),
        agent_version: 1,
        details: "{}".into(),
        attachments: vec![attachment],
    };
    let session = stage.engine.create_session(&stage.admin, new).await.unwrap();
    let key = NewKey {
        session: Some(session.id),
        power: Power::UpTo(Level::Read),
        ..full_key("sandbox")
    };
    let sandbox = stage.enter(&stage.key(key).await.1).await;
    assert_eq!(found(&stage, &sandbox, &everywhere("tea")).await, ["/in"]);
    let refused = stage.engine.search(&sandbox, &lexical(outside, "tea")).await;
    assert!(matches!(refused, Err(Error::NotFound("memory store"))));
}

#[tokio::test]
async fn revoking_closes_at_once_and_the_past_takes_the_right_to_read() {
    let stage = Stage::new().await;
    let (one, two) = (stage.store("one").await.id, stage.store("two").await.id);
    stage.put(one, "/one", "tea").await;
    stage.put(two, "/two", "tea").await;
    let agent = stage.somebody("agent").await;
    share(&stage, one, &agent, Level::Search).await;
    share(&stage, two, &agent, Level::Read).await;
    let past = |request: SearchRequest| SearchRequest { as_of: Some(AsOf::Seq(1)), ..request };
    assert_eq!(found(&stage, &agent, &everywhere("tea")).await.len(), 2);
    let refused = stage.engine.search(&agent, &past(lexical(one, "tea"))).await;
    assert!(matches!(refused, Err(Error::Denied(_))), "history is for readers");
    assert_eq!(found(&stage, &agent, &past(lexical(two, "tea"))).await, ["/two"]);
    assert_eq!(found(&stage, &agent, &past(everywhere("tea"))).await, ["/two"]);

    for grant in stage.engine.grants(&stage.admin, one).await.unwrap() {
        stage.engine.revoke(&stage.admin, one, grant.id).await.unwrap();
    }
    let gone = stage.engine.search(&agent, &lexical(one, "tea")).await;
    assert!(matches!(gone, Err(Error::NotFound("memory store"))));
    assert_eq!(found(&stage, &agent, &everywhere("tea")).await, ["/two"]);
}

/// Each search holds indexes while it brings up the next; whatever order the caller names them in,
/// nobody may wait for somebody who waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_that_name_stores_in_other_orders_do_not_wait_for_each_other() {
    let stage = Stage::new().await;
    let mut stores = Vec::new();
    for name in ["a", "b", "c", "d"] {
        stores.push(stage.store(name).await.id);
    }
    let mut asking = Vec::new();
    for turn in 0..4 {
        let (engine, admin) = (stage.engine.clone(), stage.admin.clone());
        let mut order = stores.clone();
        order.rotate_left(turn);
        if turn % 2 == 1 {
            order.reverse();
        }
        asking.push(tokio::spawn(async move {
            for n in 0..200 {
                let path = MemoryPath::parse(&format!("/{turn}/{n}")).unwrap();
                let edit = Edit::put_text(path, "tea");
                engine.commit_one(&admin, order[n % order.len()], edit, "api").await.unwrap();
                let reach = Reach::Stores(order.clone());
                let request = SearchRequest { reach, ..lexical(order[0], "tea") };
                let found = engine.search(&admin, &request).await.unwrap();
                assert!(!found.hits.is_empty());
            }
        }));
    }
    let all = async {
        for one in asking {
            one.await.unwrap();
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), all).await.expect("no deadlock");
}
