//! Chats over the wire: groups whose members reach its store, and the stores of its users, for as
//! long as they are in it. For administrators and the platforms that agents stand behind.

use super::Native;
use super::principals::{KindName, uuid_of};
use crate::error::{Failure, Result};
use crate::extract::{Authed, InChat, Name, OptionalBody, Params};
use crate::wire::{Page, PageParams};
use axum::Json;
use axum::extract::State;
use loci_model::{GrantId, Membership, Principal, PrincipalId, PrincipalKind};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// A chat.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChatView {
    /// `prn_…`.
    id: String,
    /// Always `chat`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The same as `id`, for doors that know everybody by a UUID.
    uuid: String,
    /// Its name, which names it as well.
    name: String,
    /// Since when.
    created_at: String,
}

impl From<Principal> for ChatView {
    fn from(chat: Principal) -> Self {
        Self {
            id: chat.id.to_string(),
            kind: "chat",
            uuid: uuid_of(chat.id),
            name: chat.name,
            created_at: chat.created_at.to_string(),
        }
    }
}

/// Somebody in a chat.
#[derive(Serialize, ToSchema)]
pub(crate) struct MemberView {
    /// `prn_…`.
    id: String,
    /// Always `chat_member`.
    #[serde(rename = "type")]
    object: &'static str,
    /// The same as `id`, for doors that know everybody by a UUID.
    uuid: String,
    /// Its name.
    name: String,
    /// What sort.
    kind: KindName,
    /// The chat.
    chat_id: String,
    /// Since when it is in it.
    since: String,
}

impl MemberView {
    fn new(member: Principal, membership: Membership) -> Self {
        Self {
            id: member.id.to_string(),
            object: "chat_member",
            uuid: uuid_of(member.id),
            name: member.name,
            kind: member.kind.into(),
            chat_id: membership.group.to_string(),
            since: membership.since.to_string(),
        }
    }
}

/// A chat and everybody in it.
#[derive(Serialize, ToSchema)]
pub(crate) struct WholeChat {
    #[serde(flatten)]
    chat: ChatView,
    /// Who is in it, in the order of joining.
    members: Vec<MemberView>,
}

/// What sort of member.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum MemberKind {
    /// An agent.
    Agent,
    /// A person.
    User,
}

/// Somebody who joins a chat.
#[derive(Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct JoinRequest {
    /// What it is. When not given, it is made as an agent if nobody has its name, and else is
    /// what it is; given and different, the answer is 409.
    kind: Option<MemberKind>,
}

/// What leaving took.
#[derive(Serialize, ToSchema)]
pub(crate) struct MemberRemoved {
    /// The chat, as it was named.
    chat: String,
    /// Who left it, as it was named.
    member: String,
    /// Always `chat_member_removed`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Grants that the member could give only because it was in the chat, and those that stood on
    /// them.
    revoked: Vec<String>,
}

/// Chats with somebody in them.
#[utoipa::path(get, path = "/v1/chats", tag = "chats", operation_id = "chats_list",
    params(
        ("limit" = Option<usize>, Query, description = "How many, 1 to 100; 20 when not given."),
        ("page" = Option<String>, Query, description = "`next_page` of the page before."),
    ),
    responses((status = 200, body = Page<ChatView>)))]
pub(crate) async fn list(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Params(params): Params<PageParams>,
) -> Result<Json<Page<ChatView>>> {
    /// No member comes after it, so what follows is the next chat.
    const LAST_MEMBER: PrincipalId = PrincipalId::from_u128(u128::MAX);
    let (limit, mut after) = (params.limit()?, params.after::<PrincipalId>()?);
    let (mut data, mut has_more) = (Vec::with_capacity(limit), false);
    for number in 0..=limit {
        let from = after.map(|chat| (chat, LAST_MEMBER));
        let next = native.engine.memberships(&context, from, 1).await?;
        let Some(Membership { group, .. }) = next.into_iter().next() else { break };
        if number == limit {
            has_more = true;
            break;
        }
        let chat = native.engine.named(&context, &group.to_string()).await?;
        data.extend(chat.map(ChatView::from));
        after = Some(group);
    }
    let next_page = after.filter(|_| has_more).map(|chat| chat.to_string());
    Ok(Json(Page { data, next_page }))
}

/// A chat and who is in it.
#[utoipa::path(get, path = "/v1/chats/{chat}", tag = "chats", operation_id = "chats_show",
    params(("chat" = String, Path, description = "Its name, id or UUID.")),
    responses((status = 200, body = WholeChat)))]
pub(crate) async fn show(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Name(chat): Name,
) -> Result<Json<WholeChat>> {
    let found = native.engine.group(&context, &chat).await?;
    let member = |(member, membership)| MemberView::new(member, membership);
    Ok(Json(WholeChat {
        chat: found.group.into(),
        members: found.members.into_iter().map(member).collect(),
    }))
}

/// Puts somebody into a chat; both are made if nobody has their names.
#[utoipa::path(put, path = "/v1/chats/{chat}/members/{member}",
    tag = "chats", operation_id = "chats_add_member",
    params(
        ("chat" = String, Path, description = "Its name, id or UUID."),
        ("member" = String, Path, description = "Its name, id or UUID."),
    ),
    request_body = Option<JoinRequest>,
    responses((status = 200, body = MemberView)))]
pub(crate) async fn add_member(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    InChat(chat, member): InChat,
    OptionalBody(wanted): OptionalBody<JoinRequest>,
) -> Result<Json<MemberView>> {
    let kind = wanted.kind.map(|kind| match kind {
        MemberKind::Agent => PrincipalKind::Agent,
        MemberKind::User => PrincipalKind::User,
    });
    let engine = &native.engine;
    let membership = engine.add_member(&context, &chat, &member, kind).await?;
    let member = engine.named(&context, &membership.member.to_string()).await?;
    let member = member.ok_or_else(|| Failure::not_found("member"))?;
    Ok(Json(MemberView::new(member, membership)))
}

/// Takes somebody out of a chat, with the grants that stood on being in it.
#[utoipa::path(delete, path = "/v1/chats/{chat}/members/{member}",
    tag = "chats", operation_id = "chats_remove_member",
    params(
        ("chat" = String, Path, description = "Its name, id or UUID."),
        ("member" = String, Path, description = "Its name, id or UUID."),
    ),
    responses((status = 200, body = MemberRemoved)))]
pub(crate) async fn remove_member(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    InChat(chat, member): InChat,
) -> Result<Json<MemberRemoved>> {
    let revoked = native.engine.remove_member(&context, &chat, &member).await?;
    let revoked = revoked.iter().map(GrantId::to_string).collect();
    Ok(Json(MemberRemoved { chat, member, kind: "chat_member_removed", revoked }))
}
