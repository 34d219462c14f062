//! The steps of a history that are about principals, their keys and their sessions.

use super::pair::{GUESTS, OWNER, Pair, WORKSPACE};
use super::plan::{CredentialStep, Who};
use super::stamp::pick;
use crate::session::attach;
use loci_model::policy::System;
use loci_model::{
    Access, ApiKey, Audience, KeyId, KeyScope, Principal, PrincipalId, PrincipalKind, Session,
    SessionId,
};
use loci_storage::{Mutation, Receipt, SessionChange};

/// Different secrets; keys share them, so that they get into each other's way.
pub(super) const HASHES: u8 = 6;

impl Pair {
    pub(super) async fn credential_step(&mut self, step: &CredentialStep) {
        match step {
            CredentialStep::CreatePrincipal { name, key } => {
                let principal = Principal {
                    memory: loci_model::MemorySwitches::default(),
                    id: PrincipalId::from_u128(self.next_id()),
                    workspace: WORKSPACE,
                    kind: PrincipalKind::Agent,
                    name: ["owner", "three", "four", "five"][usize::from(*name)].to_owned(),
                    is_admin: *name == 1,
                    created_at: self.now,
                };
                let _ = self.write(Mutation::CreatePrincipal(principal), *key).await;
            }
            CredentialStep::CreateKey { owner, hash, session, key } => {
                self.create_key(*owner, *hash, *session, *key).await;
            }
            CredentialStep::RevokeKey { number } => {
                let pass = System::because("random histories").administer(WORKSPACE, self.now);
                let key = pick(&self.keys, *number, KeyId::from_u128(7));
                let _ = self.write(Mutation::RevokeKey(pass, key), None).await;
            }
            CredentialStep::OpenSession { stores, key } => self.open_session(stores, *key).await,
            CredentialStep::TitleSession { session, title, label, key } => {
                let title = title.map(|title| (title > 0).then(|| format!("title {title}")));
                let label =
                    label.map(|label| ("k".to_owned(), (label > 0).then(|| label.to_string())));
                let metadata = label.into_iter().collect();
                let change = SessionChange::Describe { title, metadata };
                self.change_session(*session, change, *key).await;
            }
            CredentialStep::ArchiveSession { session, key } => {
                self.change_session(*session, SessionChange::Archive, *key).await;
            }
            CredentialStep::RemoveSession { session, key } => {
                let remove = Mutation::RemoveSession(WORKSPACE, self.session(*session));
                let _ = self.write(remove, *key).await;
            }
        }
    }

    async fn create_key(&mut self, owner: Who, hash: u8, session: Option<usize>, key: Option<u8>) {
        let principal = match owner {
            Who::Owner | Who::OwnersModel => OWNER,
            Who::Guest => GUESTS[0],
            Who::OtherGuest => GUESTS[1],
        };
        let is_model = owner == Who::OwnersModel;
        let new = ApiKey {
            acts_for_agents: hash % 3 == 2,
            id: KeyId::from_u128(self.next_id()),
            workspace: WORKSPACE,
            principal,
            name: format!("key {hash}"),
            hint: "loci_abc".into(),
            secret_hash: [hash; 32],
            scope: KeyScope::FULL,
            session: session.map(|number| self.session(number)),
            audience: if is_model { Audience::Model } else { Audience::Host },
            created_at: self.now,
            expires_at: (hash == 1).then(|| self.now.plus_secs(9)),
            revoked_at: None,
        };
        if let Ok(Receipt::Key(made)) = self.write(Mutation::CreateKey(new), key).await
            && !self.keys.contains(&made.id)
        {
            self.keys.push(made.id);
        }
    }

    async fn open_session(&mut self, stores: &[(usize, bool)], key: Option<u8>) {
        let attachments = stores.iter().map(|(store, may_write)| {
            let access = if *may_write { Access::ReadWrite } else { Access::ReadOnly };
            attach(self.stores[*store], access)
        });
        let session = Session {
            attachments: attachments.collect(),
            id: SessionId::from_u128(self.next_id()),
            workspace: WORKSPACE,
            owner: OWNER,
            title: None,
            metadata: Default::default(),
            agent_id: "agent".into(),
            agent_version: 1,
            details: "{}".into(),
            created_at: self.now,
            updated_at: self.now,
            archived_at: None,
        };
        let open = Mutation::CreateSession(session);
        if let Ok(Receipt::Session(opened)) = self.write(open, key).await
            && !self.sessions.contains(&opened.id)
        {
            self.sessions.push(opened.id);
        }
    }

    async fn change_session(&mut self, session: usize, change: SessionChange, key: Option<u8>) {
        let (session, now) = (self.session(session), self.now);
        let change = Mutation::ChangeSession { workspace: WORKSPACE, session, change, now };
        let _ = self.write(change, key).await;
    }

    fn session(&self, number: usize) -> SessionId {
        pick(&self.sessions, number, SessionId::from_u128(7))
    }
}
