//! The tools a model gets by default: few, with short descriptions, each one step of working with
//! memory. Reading is bounded by a budget of tokens and goes on by a cursor; each write is a single
//! commit under the request's idempotency key, so that a call that is sent again happens once.

mod change;
mod context;
mod definitions;
mod list;
mod read;
mod search;

pub(crate) use definitions::schema;

use crate::seam::{Asked, Outcome, ToolDefinition, ToolSet, told};
use crate::trouble::Trouble;
use async_trait::async_trait;
use loci_engine::{Context, Engine};
use serde_json::{Map, Value};

/// What the feed shows as the reason of writes by a model.
const REASON: &str = "mcp";

/// Search, read, write, edit, list, forget, and what to begin with.
pub struct MemoryTools {
    engine: Engine,
}

impl MemoryTools {
    /// The tools over an engine.
    pub fn new(engine: Engine) -> Self {
        Self { engine }
    }

    async fn run(&self, asked: &Asked<'_>) -> Result<String, Trouble> {
        let context = asked.context()?;
        let call = Call { engine: &self.engine, context: &context, given: asked.arguments };
        match asked.name {
            definitions::SEARCH => search::search(&call).await,
            definitions::READ => read::read(&call).await,
            definitions::WRITE => change::write(&call).await,
            definitions::EDIT => change::edit(&call).await,
            definitions::FORGET => change::forget(&call).await,
            definitions::LIST => list::list(&call).await,
            definitions::CONTEXT => context::context(&call).await,
            other => Err(Trouble::call(format!("there is no tool {other:?}"))),
        }
    }
}

#[async_trait]
impl ToolSet for MemoryTools {
    fn tools(&self) -> Vec<ToolDefinition> {
        definitions::all()
    }

    async fn call(&self, asked: &Asked<'_>) -> Outcome {
        told(self.run(asked).await)
    }
}

/// One call, whose caller is known.
struct Call<'a> {
    engine: &'a Engine,
    context: &'a Context,
    given: &'a Map<String, Value>,
}

/// The day of a moment, which is as much as a model needs.
fn day(at: loci_model::Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}
