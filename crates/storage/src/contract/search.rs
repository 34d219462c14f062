//! What search indexes are made of: what a reader gets of a store, and that nothing is among it that
//! the reader could not get.

use super::fixture::*;
use crate::Storage;
use std::sync::Arc;

type Db = Arc<dyn Storage>;

pub async fn texts_come_oldest_first_in_pages(db: Db) {
    let world = World::new(db).await;
    let mut ids = Vec::new();
    for path in ["/c", "/a", "/b", "/d", "/e"] {
        ids.push(world.put(path, path).await.id);
    }
    world.put("/c", "again").await;
    let texts = world.texts_for(&world.search_pass()).await;
    assert_eq!(texts.iter().map(|memory| memory.id).collect::<Vec<_>>(), ids);
    assert_eq!(texts[0], world.get("/c").await.unwrap());
}
