//! The first start on a data directory or database: one workspace, one administrator, one key.
//!
//! Servers that share a database may start at the same moment. Whatever a start makes is made by one
//! of them at a time, so that the others find it.

use crate::{DeclaredKey, Engine, Error, NewPrincipal, Result, Secret};
use loci_model::{
    Actor, ApiKey, Audience, Caller, KeyScope, Power, Principal, PrincipalKind, Timestamp,
    WorkspaceId, policy::System,
};
use loci_storage::Mutation;
use std::time::Duration;

/// What servers that start take turns at.
const STARTING: &str = "start";
/// How long a turn is another server's that was killed in it.
const TURN_SECS: u32 = 4;
/// How often a turn that takes longer is kept.
const TURN_KEPT: Duration = Duration::from_secs(1);
/// How long a start waits for its turn.
const TURN_WAIT: Duration = Duration::from_secs(60);
const TURN_POLL: Duration = Duration::from_millis(50);

/// How far a clock may be behind what was written and the writings be right all the same. Beyond it, the
/// clock may have been wrong when they were written, or they came from elsewhere.
const BEHIND_SECS_MAX: i64 = 24 * 60 * 60;

/// Names under which the administrator's keys are declared.
const GENERATED: &str = "admin";
const FROM_ENVIRONMENT: &str = "admin (environment)";
const ADMINISTRATOR: &str = "admin";

/// A clock that shows an earlier time than what was written, by so much that either may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockBehind {
    /// What the clock shows.
    pub clock: Timestamp,
    /// The latest time of what was written.
    pub written: Timestamp,
}

/// What a start found or made.
#[derive(Debug)]
pub struct FirstStart {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Its administrator.
    pub administrator: Principal,
    /// The administrator's new key, to be shown once. Only on a first start without a key of the
    /// operator's own.
    pub admin_key: Option<Secret>,
}

impl Engine {
    /// Goes on from the latest time of what was written, if the clock shows an earlier one: what had
    /// expired before a restart has expired after it. A clock that is behind by more than a day is told
    /// instead and counts: what was written may have had the wrong one.
    pub async fn resume_time(&self) -> Result<Option<ClockBehind>> {
        let Some(workspace) = self.storage.default_workspace().await? else { return Ok(None) };
        let Some(written) = self.storage.newest_time(workspace).await? else { return Ok(None) };
        let clock = self.seams.shown();
        if written > clock.plus_secs(BEHIND_SECS_MAX) {
            return Ok(Some(ClockBehind { clock, written }));
        }
        self.seams.go_on_from(written);
        Ok(None)
    }

    /// Makes sure that a workspace and its administrator exist, and no key: enough for whoever can
    /// open the data directory, who needs none.
    pub async fn settle(&self) -> Result<FirstStart> {
        if let Some(workspace) = self.storage.default_workspace().await?
            && let Some(administrator) =
                self.storage.principal_by_name(workspace, ADMINISTRATOR).await?
        {
            return Ok(FirstStart { workspace, administrator, admin_key: None });
        }
        self.one_at_a_time(self.begin()).await
    }

    async fn begin(&self) -> Result<FirstStart> {
        let now = self.seams.now();
        let workspace = match self.storage.default_workspace().await? {
            Some(workspace) => workspace,
            None => {
                let workspace = self.seams.workspace_id(now);
                self.write_unasked(Mutation::CreateWorkspace(workspace, now)).await?;
                workspace
            }
        };
        let administrator =
            NewPrincipal { kind: PrincipalKind::User, name: ADMINISTRATOR.into(), is_admin: true };
        let administrator = self.declare_principal(workspace, administrator).await?;
        Ok(FirstStart { workspace, administrator, admin_key: None })
    }

    /// Does work of a start while no other server does such work.
    pub async fn one_at_a_time<T, E: From<Error>>(
        &self,
        work: impl Future<Output = std::result::Result<T, E>>,
    ) -> std::result::Result<T, E> {
        self.wait_for_turn().await?;
        let done = tokio::select! {
            done = work => done,
            error = self.keep_turn() => Err(error.into()),
        };
        // A turn that cannot be given back ends by itself.
        if let Err(error) = self.storage.lease(STARTING, 0).await {
            tracing::warn!(%error, "other servers may wait for a moment");
        }
        done
    }

    async fn wait_for_turn(&self) -> Result<()> {
        let turn = async {
            while !self.storage.lease(STARTING, TURN_SECS).await? {
                tokio::time::sleep(TURN_POLL).await;
            }
            Ok(())
        };
        let late = Error::Unavailable("another server is still starting; try again");
        tokio::time::timeout(TURN_WAIT, turn).await.unwrap_or(Err(late))
    }

    /// Keeps the turn; returns when it is lost.
    async fn keep_turn(&self) -> Error {
        loop {
            tokio::time::sleep(TURN_KEPT).await;
            match self.storage.lease(STARTING, TURN_SECS).await {
                Ok(true) => {}
                Ok(false) => return Error::Unavailable("the start took too long; try again"),
                Err(error) => return error.into(),
            }
        }
    }

    /// Makes sure that a workspace, its administrator and a key exist. `given` is the operator's own
    /// admin key; it replaces the one given before.
    pub async fn bootstrap(&self, given: Option<&Secret>) -> Result<FirstStart> {
        self.bootstrap_with(given, &Secret::generate(&self.seams)).await
    }

    /// The same with `fresh` for the key that is made where there is none. A start that is tried
    /// again brings the same one and gets it to show, although it was the try before that made it.
    pub async fn bootstrap_with(
        &self,
        given: Option<&Secret>,
        fresh: &Secret,
    ) -> Result<FirstStart> {
        let FirstStart { workspace, administrator, .. } = self.settle().await?;
        let declare = |name: &str, secret: &Secret| DeclaredKey {
            name: name.into(),
            workspace,
            principal: administrator.id,
            power: Power::Full,
            stores: None,
            acts_for_agents: false,
            secret_hash: secret.hash(),
        };
        let admin_key = match given {
            Some(secret) => {
                self.declare_key(declare(FROM_ENVIRONMENT, secret)).await?;
                None
            }
            None => {
                let standing = self.valid_keys(workspace).await?;
                if standing.is_empty() {
                    self.declare_key(declare(GENERATED, fresh)).await?;
                }
                let is_ours = |key: &ApiKey| key.secret_hash == fresh.hash();
                (standing.is_empty() || standing.iter().any(is_ours)).then(|| fresh.clone())
            }
        };
        Ok(FirstStart { workspace, administrator, admin_key })
    }

    /// Whether any key of the workspace opens anything.
    pub async fn has_keys(&self, workspace: WorkspaceId) -> Result<bool> {
        Ok(!self.valid_keys(workspace).await?.is_empty())
    }

    async fn valid_keys(&self, workspace: WorkspaceId) -> Result<Vec<ApiKey>> {
        let now = self.seams.now();
        let pass = System::because("start-up asks whether a key exists").administer(workspace, now);
        let keys = self.storage.keys(&pass).await?;
        Ok(keys.into_iter().filter(|key| key.is_valid_at(now)).collect())
    }

    /// The caller that whoever can open the data directory is: its administrator, in person.
    pub fn local_operator(&self, start: &FirstStart) -> Caller {
        Caller {
            workspace: start.workspace,
            principal: start.administrator.id,
            is_admin: true,
            actor: Actor::User(start.administrator.id),
            session: None,
            session_user: loci_model::SessionUser::Unsaid,
            audience: Audience::Host,
            acts_for_agents: false,
            memory: start.administrator.memory,
            scope: KeyScope::FULL,
            expires_at: None,
        }
    }
}
