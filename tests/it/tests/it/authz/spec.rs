//! What access should be, written down once more and without a look at the code that decides it.
//!
//! One function from who asks, what for, and in what state things are, to the answer.

use super::world::{Kind, State, Who};

/// What a verb takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Anything.
    Search,
    /// To see the store.
    Read,
    /// To see one memory.
    ReadOne,
    /// To see the text of one memory.
    ReadText,
    /// To put something where nothing is.
    Create,
    /// To put something into one's own entry, whatever others have there.
    Upsert,
    /// To change a memory, whatever its content.
    Describe,
    /// To change a text in its place.
    Edit,
    /// To take a memory away.
    Remove,
    /// To take away one's own entry.
    RemoveOwn,
    /// To move a memory.
    Move,
    /// To share, or to take back what one shared.
    Share,
    /// To describe, archive and remove the store, and to erase.
    Manage,
    /// The same, but of an archived store nothing is changed.
    Alter,
}

/// How a door speaks of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// 404 for what one may not know of, 403 for what one may not do.
    Native,
    /// 403 for both, and 404 only for a missing entry of an open store.
    Robutler,
    /// In words.
    Tool,
    /// As the first, about agents only.
    Mobius,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    None,
    Off,
    Search,
    Read,
    Write,
    Own,
}

fn level(who: Who, kind: Kind) -> Level {
    match who {
        Who::Admin => Level::Own,
        Who::Owner | Who::OwnersModel if kind != Kind::Chat => Level::Own,
        Who::OwnersReadKey if kind != Kind::Chat => Level::Read,
        Who::OwnersSearchKey if kind != Kind::Chat => Level::Search,
        Who::Searcher => Level::Search,
        Who::Reader | Who::SessionReading => Level::Read,
        Who::Writer | Who::SessionWriting => Level::Write,
        Who::SwitchedOff => Level::Off,
        Who::Member if kind == Kind::Chat => Level::Write,
        Who::Companion if kind == Kind::User => Level::Write,
        Who::OwnersSearchKey if kind == Kind::Open => Level::Search,
        _ if kind == Kind::Open => Level::Read,
        _ => Level::None,
    }
}

/// `y`es, `n`o (403), `h`idden (404), `u`nknown caller (401), `a`rchived, `s`ealed.
///
/// `is_elsewhere` where the request says that it is about another user.
pub(super) fn expected(
    who: Who,
    (need, is_elsewhere): (Need, bool),
    kind: Kind,
    state: State,
    manner: Manner,
) -> char {
    let who = who.base();
    let is_plain = matches!(manner, Manner::Native | Manner::Mobius);
    let hidden = if is_plain { 'h' } else { 'n' };
    let level = match who {
        // Who is in a chat with the user is so in the user's own session only.
        Who::Companion if is_elsewhere && kind == Kind::User => Level::None,
        _ => level(who, kind),
    };
    if who == Who::Nobody {
        return 'u';
    }
    if manner == Manner::Mobius && matches!(kind, Kind::Chat | Kind::User) {
        return 'h';
    }
    if level == Level::None {
        return hidden;
    }
    let is_model = matches!(who, Who::OwnersModel | Who::SessionReading | Who::SessionWriting);
    let is_session = matches!(who, Who::SessionReading | Who::SessionWriting);
    let wanted = match need {
        Need::Search => Level::Search,
        Need::Read | Need::ReadOne | Need::ReadText => Level::Read,
        Need::Share => Level::Write,
        Need::Manage | Need::Alter => Level::Own,
        _ => Level::Write,
    };
    if level < wanted || (matches!(need, Need::Share | Need::Manage | Need::Alter) && is_model) {
        return 'n';
    }
    if need == Need::Share && is_session {
        return 'n';
    }
    let writes = matches!(
        need,
        Need::Create | Need::Upsert | Need::Describe | Need::Edit | Need::Move | Need::Alter
    );
    let archived = if is_plain { 'a' } else { 'n' };
    if writes && kind == Kind::Archived {
        return archived;
    }
    // The tool views what is not there as nothing, and refuses to work on it in words.
    let missing = if manner == Manner::Tool && need != Need::ReadText { 'n' } else { 'h' };
    let is_author = match state {
        State::Others | State::HiddenByGuest => who == Who::Writer,
        _ => {
            matches!(who, Who::Owner | Who::OwnersModel)
                || (kind == Kind::Chat && who == Who::Member)
        }
    };
    // At the Robutler door hidden entries are their writer's and whose store it is.
    let is_keeper = level == Level::Own
        || is_author
        || matches!(who, Who::OwnersReadKey | Who::OwnersSearchKey) && kind != Kind::Chat;
    let is_hidden = matches!(state, State::Internal | State::HiddenByGuest)
        && (is_model || manner == Manner::Tool || manner == Manner::Robutler && !is_keeper);
    let sees = state != State::Expired && !is_hidden;
    match need {
        Need::Search | Need::Read | Need::Create | Need::Upsert | Need::Share => 'y',
        Need::Manage | Need::Alter => 'y',
        _ if !sees => missing,
        Need::ReadText if state == State::Sealed => 's',
        Need::Edit if state == State::Sealed => 'n',
        // The owner of a store and administrators take anything away; others what they wrote.
        Need::Remove | Need::Move if level == Level::Own || is_author => 'y',
        Need::Remove | Need::Move => 'n',
        Need::RemoveOwn if is_author => 'y',
        Need::RemoveOwn => 'n',
        Need::ReadOne | Need::ReadText => 'y',
        Need::Describe | Need::Edit => 'y',
    }
}
