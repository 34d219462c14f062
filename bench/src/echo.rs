//! The ceiling for reads: axum with nothing behind it. One route parses and renders JSON, as an API
//! does; the other gives back the bytes it got.

use axum::body::Bytes;
use axum::{Json, Router, routing::post};

pub(crate) fn serve() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let router = Router::new()
            .route("/json", post(|Json(value): Json<serde_json::Value>| async move { Json(value) }))
            .route("/bytes", post(|body: Bytes| async move { body }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("listening on http://{}", listener.local_addr()?);
        axum::serve(listener, router).await?;
        Ok(())
    })
}
