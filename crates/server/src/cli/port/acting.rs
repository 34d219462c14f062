//! As whom a mount writes. As a session it needs a key that is bound to it: the one that was given, or
//! one made for this purpose and revoked at the end. Such a key opens nothing but the session's stores,
//! ends with the session, and its secret never leaves this process.

use super::super::client::Client;
use super::super::find::encode;
use super::super::output::{say, text};
use crate::exit::Failure;
use serde_json::json;

/// A client that acts as somebody, and what has to be undone at the end.
pub(crate) struct Acting {
    client: Client,
    /// Whoever made the key, and the key.
    made: Option<(Client, String)>,
}

impl Acting {
    /// As whoever asks, for a model.
    pub(crate) fn as_caller(client: &Client) -> Self {
        Self { client: client.as_model(), made: None }
    }

    /// As a session, if there is one to act as.
    pub(crate) async fn start(
        client: &Client,
        session: Option<&str>,
        name: &str,
    ) -> Result<Self, Failure> {
        let Some(session) = session else { return Ok(Self::as_caller(client)) };
        let who = client.get("/v1/whoami").await?;
        if text(&who, "session_id") == session {
            return Ok(Self::as_caller(client));
        }
        let wanted = json!({
            "name": name,
            "session_id": session,
            "level": "readwrite",
            "audience": "model",
        });
        let key = client.post_once("/v1/api_keys", &wanted).await?;
        let secret = text(&key, "secret").to_owned();
        let made = Some((client.clone(), text(&key, "id").to_owned()));
        Ok(Self { client: client.with_key(Some(secret)).as_model(), made })
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Revokes what was made. A server that is gone keeps a key that nobody has.
    pub(crate) async fn end(self) {
        if let Some((maker, key)) = self.made
            && let Err(refused) = maker.delete(&format!("/v1/api_keys/{}", encode(&key))).await
        {
            let failure = Failure::from(refused);
            say(&format!("{key} could not be revoked: {}", failure.message));
        }
    }
}
