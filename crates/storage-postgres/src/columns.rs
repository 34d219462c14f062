//! Lists of places and memories as the columns that statements take.

use crate::client::uuid;
use crate::draft::{Below, Place};
use crate::row;
use loci_model::{MemoryId, StoreId};
use std::collections::BTreeSet;
use tokio_postgres::{Client, Error, Row, Statement};
use uuid::Uuid;

/// Places to look at.
#[derive(Default)]
pub(crate) struct PlaceColumns {
    stores: Vec<Uuid>,
    partitions: Vec<Uuid>,
    paths: Vec<String>,
}

impl PlaceColumns {
    pub(crate) fn new(places: &BTreeSet<(StoreId, Place)>) -> Self {
        let mut columns = Self::default();
        for (store, (partition, path)) in places {
            columns.push(*store, *partition, path);
        }
        columns
    }

    fn push(&mut self, store: StoreId, partition: Uuid, path: &str) {
        self.stores.push(uuid(store.to_bytes()));
        self.partitions.push(partition);
        self.paths.push(path.to_owned());
    }

    pub(crate) async fn query(
        &self,
        client: &Client,
        statement: &Statement,
    ) -> Result<Vec<Row>, Error> {
        if self.paths.is_empty() {
            return Ok(Vec::new());
        }
        client.query(statement, &[&self.stores, &self.partitions, &self.paths]).await
    }
}

/// Places to look below, each with the bounds of what lies there.
#[derive(Default)]
pub(crate) struct BelowColumns {
    places: PlaceColumns,
    lows: Vec<String>,
    highs: Vec<String>,
    /// A memory that is not in its own way.
    itself: Option<MemoryId>,
}

impl BelowColumns {
    pub(crate) fn new(places: &BTreeSet<Below>) -> Self {
        let mut columns = Self::default();
        for (store, partition, path) in places {
            let (low, high) = path.descendants();
            columns.places.push(*store, *partition, path.as_str());
            columns.lows.push(low);
            columns.highs.push(high);
        }
        columns
    }

    /// The same places, but not what a memory itself has there.
    pub(crate) fn but(self, itself: Option<MemoryId>) -> Self {
        Self { itself, ..self }
    }

    pub(crate) async fn query(
        &self,
        client: &Client,
        statement: &Statement,
    ) -> Result<Vec<Row>, Error> {
        let PlaceColumns { stores, partitions, paths } = &self.places;
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let itself = self.itself.map_or(row::NO_ID, |id| uuid(id.to_bytes()));
        client
            .query(statement, &[stores, partitions, paths, &self.lows, &self.highs, &itself])
            .await
    }
}

/// Memories to look at.
pub(crate) struct MemoryColumns {
    stores: Vec<Uuid>,
    memories: Vec<Uuid>,
}

impl MemoryColumns {
    pub(crate) fn new(memories: &BTreeSet<(StoreId, MemoryId)>) -> Self {
        Self {
            stores: memories.iter().map(|(store, _)| uuid(store.to_bytes())).collect(),
            memories: memories.iter().map(|(_, id)| uuid(id.to_bytes())).collect(),
        }
    }

    pub(crate) async fn query(
        &self,
        client: &Client,
        statement: &Statement,
    ) -> Result<Vec<Row>, Error> {
        if self.memories.is_empty() {
            return Ok(Vec::new());
        }
        client.query(statement, &[&self.stores, &self.memories]).await
    }
}
