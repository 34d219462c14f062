//! The contract suite on the in-memory engine, and a look that no case of the suite is forgotten.

use async_trait::async_trait;
use loci_storage::Storage;
use loci_storage_contract::Harness;
use loci_storage_memory::MemStorage;
use std::sync::Arc;

struct Mem;

#[async_trait]
impl Harness for Mem {
    type Guard = ();

    async fn fresh() -> (Arc<dyn Storage>, ()) {
        (Arc::new(MemStorage::new()), ())
    }
}

loci_storage_contract::contract_tests!(Mem);

#[test]
fn the_table_of_cases_is_complete() {
    for (module, cases) in loci_storage_contract::for_each_contract_case!(
        loci_storage_contract::count_contract_cases {}
    ) {
        let file = format!("{}/src/{module}.rs", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(file).unwrap();
        for line in source.lines().filter(|line| line.contains("(db: Db) {")) {
            let Some(rest) = line.strip_prefix("pub async fn ") else { continue };
            let name = rest.split('(').next().unwrap();
            assert!(cases.contains(&name), "{module}::{name} is not in the table");
        }
    }
}
