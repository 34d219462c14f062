//! Sets search up as the configuration says: who embeds, and how much memory indexes may take.

use crate::config::{EmbedderConfig, HttpEmbedderConfig, SearchConfig};
use crate::exit::Failure;
use loci_engine::search::SearchOptions;
use loci_engine::search::embed::{Embedder, EndpointKey, HttpConfig, HttpEmbedder};
use std::sync::Arc;
use std::thread::available_parallelism;

/// How often an endpoint that fails is asked again.
const HTTP_RETRIES: u32 = 4;

/// The engine's options. The model inside the binary is there in any case, so that vectors it made
/// can be searched while another model replaces them.
pub(crate) fn options(config: &SearchConfig) -> Result<SearchOptions, Failure> {
    let mut embedders: Vec<Arc<dyn Embedder>> = Vec::new();
    match &config.embedder {
        EmbedderConfig::None => {}
        EmbedderConfig::Builtin => embedders.push(builtin()?),
        EmbedderConfig::Http(http) => {
            embedders.push(endpoint(http)?);
            embedders.extend(builtin().ok());
        }
    }
    let cores = available_parallelism().map_or(1, |cores| cores.get());
    Ok(SearchOptions {
        embedders,
        index_bytes_max: config.memory_bytes,
        past_bytes_max: config.memory_bytes / 4,
        index_memories_max: config.index_memories_max,
        searches_at_once: cores * 2,
    })
}

#[cfg(feature = "builtin-model")]
fn builtin() -> Result<Arc<dyn Embedder>, Failure> {
    Ok(Arc::new(loci_engine::search::embed::Builtin::new()))
}

#[cfg(not(feature = "builtin-model"))]
fn builtin() -> Result<Arc<dyn Embedder>, Failure> {
    Err(Failure::failed(
        "this binary was built without its model: set search.embedder to http or none",
    ))
}

fn endpoint(http: &HttpEmbedderConfig) -> Result<Arc<dyn Embedder>, Failure> {
    let embedder = HttpEmbedder::new(HttpConfig {
        url: http.url.clone(),
        model: http.model.clone(),
        api_key: http.api_key.as_ref().map(|key| EndpointKey::new(key.reveal())),
        dims: http.dims,
        timeout: http.timeout,
        retries: HTTP_RETRIES,
        batch_max: http.batch_max,
    });
    Ok(Arc::new(embedder.map_err(|error| Failure::failed(format!("search.http: {error}")))?))
}
