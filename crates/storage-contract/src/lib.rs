//! What every storage engine must do, as one suite. A case gets an empty engine and plays one rule
//! through; its name says the rule. [`contract_tests!`](crate::contract_tests) stamps every case as
//! a test of an engine, so that what holds for one engine holds for all.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "the cases are tests, and their names say what they show"
)]

pub mod address;
pub mod as_of;
pub mod caps;
mod cases;
pub mod change;
pub mod commit;
pub mod event;
pub mod expire;
pub mod fixture;
pub mod grant;
pub mod group;
pub mod idempotency;
pub mod import;
pub mod key;
pub mod list;
pub mod random;
pub mod read;
pub mod reading;
pub mod redact;
pub mod repeats;
pub mod search;
pub mod session;
pub mod store;
pub mod tail;
pub mod tally;
pub mod transfer;
pub mod tree;
pub mod vector;

use async_trait::async_trait;
use loci_storage::Storage;
use std::sync::Arc;

/// Makes engines to test.
#[async_trait]
pub trait Harness {
    /// What must stay alive as long as the engine, such as a temporary directory.
    type Guard: Send;

    /// A new, empty engine.
    async fn fresh() -> (Arc<dyn Storage>, Self::Guard);
}

/// Stamps the suite on the engine of a [`Harness`](crate::Harness).
#[macro_export]
macro_rules! contract_tests {
    ($harness:ty) => {
        $crate::for_each_contract_case! { $crate::stamp_contract_tests { $harness } }
    };
}

/// Makes one test of each case.
#[doc(hidden)]
#[macro_export]
macro_rules! stamp_contract_tests {
    ({ $harness:ty } $($module:ident { $($case:ident)+ })+) => {
        $(mod $module {
            use super::*;
            $(
                #[tokio::test]
                async fn $case() {
                    let (storage, guard) =
                        <$harness as $crate::Harness>::fresh().await;
                    $crate::$module::$case(storage).await;
                    drop(guard);
                }
            )+
        })+
    };
}

/// The number of cases of each module, to be compared with its source.
#[doc(hidden)]
#[macro_export]
macro_rules! count_contract_cases {
    ({} $($module:ident { $($case:ident)+ })+) => {
        [$((stringify!($module), [$(stringify!($case)),+].as_slice())),+]
    };
}
