//! Single reads: what they show, and to whom.

use super::fixture::*;
use loci_model::query::{Filter, ListQuery};
use loci_model::{
    At, Content, Edit, Expect, MemoryId, PrincipalId, StoreId, VersionId, View, Visibility,
};
use loci_storage::{Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

pub async fn a_memory_is_found_by_id_path_and_filter(db: Db) {
    let world = World::new(db).await;
    let memory = world.put_with("/a", "text", of_kind("fact")).await;
    let filter = Filter { kind: Some("fact".into()), ..Filter::default() };
    for at in [At::Id(memory.id), At::Path(None, path("/a")), At::First(filter)] {
        let found = world.storage.get(&world.read_pass(), &at, View::Basic).await;
        assert_eq!(found.unwrap(), Some(memory.clone()));
    }
}

pub async fn content_comes_only_with_the_full_view(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "text").await;
    for (view, content) in [(View::Basic, None), (View::Full, Some(Content::Text("text".into())))] {
        let at = At::Id(memory.id);
        let found = world.storage.get(&world.read_pass(), &at, view).await.unwrap();
        assert_eq!(found.unwrap().content, content);
        let version = world.storage.version(&world.read_pass(), memory.head, view).await;
        assert_eq!(version.unwrap().unwrap().content, content);
        let query = ListQuery::everything(view, 10);
        let item = world.list(&query).await.remove(0);
        let loci_model::query::ListItem::Memory(listed) = item else { panic!("{item:?}") };
        assert_eq!(listed.content, content);
    }
}

pub async fn text_comes_back_byte_for_byte(db: Db) {
    let world = World::new(db).await;
    let texts = ["", " ", "a\r\nb\r\n", "\u{0}zero", "e\u{301} vs é", "😀\u{200b}", "'\";--"];
    for text in texts {
        world.put("/a", text).await;
        assert_eq!(world.text_at("/a").await.unwrap(), text);
    }
    let long = "ä".repeat(51_200);
    world.put("/a", &long).await;
    assert!(world.text_at("/a").await.unwrap() == long);
}

pub async fn nothing_is_found_where_nothing_is(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "x").await;
    let filter = Filter { scope: Some("none".into()), ..Filter::default() };
    for at in [
        At::Id(MemoryId::from_u128(next_bits())),
        At::Path(None, path("/b")),
        At::Path(Some(PrincipalId::from_u128(1)), path("/a")),
        At::First(filter),
    ] {
        let found = world.storage.get(&world.read_pass(), &at, View::Full).await;
        assert_eq!(found.unwrap(), None);
    }
    let version = VersionId::from_u128(next_bits());
    let found = world.storage.version(&world.read_pass(), version, View::Full).await;
    assert_eq!(found.unwrap(), None);
}

pub async fn a_pass_opens_only_its_own_store(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "x").await;
    let other = world.new_store(Default::default()).await;
    let pass = world.system().read(world.workspace, other.id, world.now());
    let found = world.storage.get(&pass, &At::Id(memory.id), View::Full).await;
    assert_eq!(found.unwrap(), None);
    let version = world.storage.version(&pass, memory.head, View::Full).await;
    assert_eq!(version.unwrap(), None);
    assert!(world.storage.versions(&pass, &all_versions()).await.unwrap().items.is_empty());
    assert!(world.storage.changes(&pass, 0, 10).await.unwrap().is_empty());
}

pub async fn an_unknown_store_shows_nothing(db: Db) {
    let world = World::new(db).await;
    let nowhere = StoreId::from_u128(next_bits());
    assert_eq!(
        world.storage.facts(world.workspace, nowhere, world.owner, None).await.unwrap(),
        None
    );
    let pass = world.system().read(world.workspace, nowhere, world.now());
    let at = At::Path(None, path("/a"));
    assert_eq!(world.storage.get(&pass, &at, View::Full).await.unwrap(), None);
    assert_refused!(world.storage.stats(&pass).await, StorageError::NotFound(_));
}

pub async fn a_model_does_not_see_what_is_not_for_it(db: Db) {
    let world = World::new(db).await;
    world.put("/shown", "word").await;
    for (path, visibility) in
        [("/internal", Visibility::Internal), ("/quarantine", Visibility::Quarantine)]
    {
        let hidden = world.put_with(path, "word", shown_as(visibility)).await;
        let pass = world.model_read_pass().await;
        let at = At::Id(hidden.id);
        assert_eq!(world.storage.get(&pass, &at, View::Full).await.unwrap(), None);
        let version = world.storage.version(&pass, hidden.head, View::Full).await;
        assert_eq!(version.unwrap(), None);
        assert!(world.get(path).await.is_some(), "a host sees it");
    }
    let pass = world.model_read_pass().await;
    let page = world.storage.list(&pass, &ListQuery::everything(View::Basic, 10)).await;
    let shown: Vec<String> = page.unwrap().items.iter().map(item_text).collect();
    assert_eq!(shown, ["/shown"]);
    let versions = world.storage.versions(&pass, &all_versions()).await.unwrap().items;
    assert_eq!(versions.len(), 1);
    assert_eq!(world.paths().await.len(), 3);
}

pub async fn a_model_does_not_see_the_history_of_a_removed_internal_memory(db: Db) {
    let world = World::new(db).await;
    let hidden = world.put_with("/a", "x", shown_as(Visibility::Internal)).await;
    world.edit(remove("/a")).await.unwrap();
    let pass = world.model_read_pass().await;
    let version = world.storage.version(&pass, hidden.head, View::Full).await;
    assert_eq!(version.unwrap(), None);
    assert!(world.storage.versions(&pass, &all_versions()).await.unwrap().items.is_empty());
    assert_eq!(world.history().await.len(), 2);
}

pub async fn a_model_follows_the_feed_without_learning_hidden_paths(db: Db) {
    let world = World::new(db).await;
    world.put("/shown", "x").await;
    let hidden = world.put_with("/hidden", "x", shown_as(Visibility::Internal)).await;
    let paths = async || -> Vec<Option<String>> {
        let pass = world.model_read_pass().await;
        let feed = world.storage.changes(&pass, 0, 10).await.unwrap();
        assert!(feed.iter().map(|change| change.seq).eq(1..=feed.len() as u64));
        feed.into_iter().map(|change| change.path.map(|path| path.to_string())).collect()
    };
    let shown = Some("/shown".to_owned());
    assert_eq!(paths().await, [shown.clone(), None]);
    world.edit(Edit::remove(At::Id(hidden.id), Expect::Anything)).await.unwrap();
    assert_eq!(paths().await, [shown, None, None]);
    assert!(world.feed().await.iter().all(|change| change.path.is_some()), "a host sees all");
}

pub async fn a_model_cannot_edit_what_it_does_not_see_but_meets_its_path(db: Db) {
    let world = World::new(db).await;
    let hidden = world.put_with("/a", "x", shown_as(Visibility::Internal)).await;
    for edit in [update(hidden.id, "y"), remove("/a"), append("/b", "z")] {
        let is_other = edit == append("/b", "z");
        let pass = world.model_write_pass().await;
        let result = world.commit_as(pass, vec![edit]).await;
        assert!(is_other || not_found(&result.unwrap_err()));
    }
    let pass = world.model_write_pass().await;
    assert_refused!(
        world.commit_as(pass, vec![put("/a", "y")]).await,
        StorageError::PathTaken { memory: None, .. }
    );
    assert_eq!(world.text_at("/a").await.unwrap(), "x");
}

pub async fn stats_count_what_lives_and_what_was(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "12345").await;
    world.put("/b", "123").await;
    world.put("/a", "1").await;
    world.edit(remove("/b")).await.unwrap();
    world.edit(put_sealed("/c", &[0; 7])).await.unwrap();
    let stats = world.storage.stats(&world.read_pass()).await.unwrap();
    assert_eq!((stats.memories, stats.content_bytes), (2, 8));
    assert_eq!((stats.versions, stats.last_seq), (5, 5));
    world.assert_sound().await;
}

pub async fn sealed_bytes_come_back_sealed(db: Db) {
    let world = World::new(db).await;
    let bytes = [0, 255, 128, 10];
    let memory = world.edit(put_sealed("/a", &bytes)).await.unwrap().memory;
    let sealed = Content::Sealed(bytes.to_vec());
    assert!(memory.is_sealed);
    assert_eq!((memory.digest, memory.size_bytes), (sealed.digest(), 4));
    assert_eq!(world.get("/a").await.unwrap().content, Some(sealed.clone()));
    assert_eq!(world.version(memory.head).await.content, Some(sealed));
    let again = world.edit(put_sealed("/a", &bytes)).await.unwrap();
    assert_eq!(again.operation, None);
}

pub async fn sealed_content_is_not_edited_in_place(db: Db) {
    use loci_model::decide::Refusal;
    let world = World::new(db).await;
    world.edit(put_sealed("/a", b"secret")).await.unwrap();
    for edit in
        [append("/a", "x"), replace("/a", "secret", "x", loci_model::edit::Occurrence::First)]
    {
        assert_refused!(
            world.edit(edit).await,
            StorageError::Refused { refusal: Refusal::Sealed, .. }
        );
    }
    let opened = world.edit(put("/a", "secret")).await.unwrap();
    assert!(!opened.memory.is_sealed, "the same bytes as text are another content");
    assert_eq!(opened.memory.revision, 2);
}
