//! Table tests of the edit rules.

use super::*;
use crate::{At, AttributesPatch, Digest, MemoryId, Patch, StoreId, Timestamp, VersionId};

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

fn memory(text: &str) -> Memory {
    let content = Content::Text(text.into());
    Memory {
        id: MemoryId::from_u128(1),
        store: StoreId::from_u128(1),
        partition: None,
        owner: PrincipalId::from_u128(1),
        path: path("/a"),
        attributes: Attributes::default(),
        head: VersionId::from_u128(1),
        revision: 3,
        digest: content.digest(),
        size_bytes: text.len() as u64,
        is_sealed: false,
        content: Some(content),
        created_at: Timestamp::from_micros(1),
        updated_at: Timestamp::from_micros(2),
    }
}

fn put(text: &str, expect: Expect) -> Edit {
    Edit { expect, ..Edit::put_text(path("/a"), text) }
}

fn run(edit: &Edit, current: Option<&Memory>) -> Result<Decision, Refusal> {
    decide(edit, current, Some(&path("/a")), &StorePolicy::default(), None)
}

fn digest_of(text: &str) -> Digest {
    Content::Text(text.into()).digest()
}

#[test]
fn put_where_nothing_is() {
    for (expect, creates) in [
        (Expect::Anything, true),
        (Expect::Absent, true),
        (Expect::Present, false),
        (Expect::Digest(digest_of("x")), false),
        (Expect::Revision(1), false),
    ] {
        let result = run(&put("x", expect), None);
        assert_eq!(matches!(result, Ok(Decision::Create(_))), creates);
        assert!(creates || result == Err(Refusal::NotFound));
    }
}

#[test]
fn put_where_something_is() {
    let current = memory("old");
    let modified =
        |expect| matches!(run(&put("new", expect), Some(&current)), Ok(Decision::Modify(_)));
    assert!(modified(Expect::Anything));
    assert!(modified(Expect::Present));
    assert!(modified(Expect::Digest(digest_of("old"))));
    assert!(modified(Expect::Revision(3)));
    let refused = |expect| run(&put("new", expect), Some(&current)).unwrap_err();
    assert_eq!(refused(Expect::Absent), Refusal::Present);
    assert_eq!(refused(Expect::Digest(digest_of("other"))), Refusal::ExpectFailed);
    assert_eq!(refused(Expect::Revision(2)), Refusal::ExpectFailed);
}

#[test]
fn the_same_again_succeeds_whatever_was_expected() {
    let current = memory("same");
    let again = put("same", Expect::Digest(digest_of("other")));
    assert_eq!(run(&again, Some(&current)), Ok(Decision::Unchanged));
    let recorded = Edit { on_same: OnSame::Record, ..put("same", Expect::Anything) };
    assert!(matches!(run(&recorded, Some(&current)), Ok(Decision::Modify(_))));
    let created = put("same", Expect::Absent);
    assert_eq!(run(&created, Some(&current)), Err(Refusal::Present));
}

#[test]
fn attributes_alone_make_a_version() {
    let attributes = AttributesPatch { pinned: Patch::Set(true), ..AttributesPatch::default() };
    let edit = Edit {
        op: EditOp::Put { content: None, to: None, attributes },
        ..put("", Expect::Anything)
    };
    let Ok(Decision::Modify(next)) = run(&edit, Some(&memory("x"))) else { panic!("not modified") };
    assert!(next.attributes.pinned && next.content == NextContent::Kept);
    assert_eq!(run(&edit, None), Err(Refusal::NotFound), "nothing to create from");
}

#[test]
fn append_and_replace() {
    let append = |text: &str| append(text, "\n");
    let text_after = |edit: &Edit, current: Option<&Memory>| match run(edit, current) {
        Ok(Decision::Create(next) | Decision::Modify(next)) => match next.content {
            NextContent::Whole(content) => content.text().unwrap().to_owned(),
            NextContent::Extended(tail) => {
                let old = current.unwrap().content.as_ref().unwrap().text().unwrap();
                format!("{old}{tail}")
            }
            NextContent::Kept => panic!("nothing was changed"),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!(text_after(&append("b"), Some(&memory("a"))), "a\nb");
    assert_eq!(text_after(&append("b"), Some(&memory(""))), "b");
    assert_eq!(text_after(&append("b"), None), "b");

    let replace = |old: &str, which| Edit {
        op: EditOp::Replace { old: old.into(), new: "X".into(), which },
        ..put("", Expect::Anything)
    };
    let current = memory("one two one");
    assert_eq!(text_after(&replace("one", Occurrence::First), Some(&current)), "X two one");
    assert_eq!(text_after(&replace("two", Occurrence::Only), Some(&current)), "one X one");
    let refused = |edit: &Edit| run(edit, Some(&current)).unwrap_err();
    assert_eq!(refused(&replace("one", Occurrence::Only)), Refusal::TextAmbiguous { count: 2 });
    assert_eq!(refused(&replace("six", Occurrence::Only)), Refusal::TextNotFound);
    assert_eq!(refused(&replace("", Occurrence::First)), Refusal::TextNotFound);
}

fn append(text: &str, separator: &str) -> Edit {
    Edit {
        op: EditOp::Append {
            text: text.into(),
            separator: Separator::Always(separator.into()),
            to: None,
            attributes: AttributesPatch::default(),
        },
        ..put("", Expect::Anything)
    }
}

#[test]
fn an_append_starts_a_line_of_its_own_where_it_is_asked_to() {
    let mut edit = append("b\n", "");
    let EditOp::Append { separator, .. } = &mut edit.op else { panic!("not an append") };
    *separator = Separator::IfMissing("\n".into());
    assert!(needs_content(&edit), "what the text ends with is in the text");
    for (before, added) in [("a", "\nb\n"), ("a\n", "b\n"), ("", "b\n"), ("\na", "\nb\n")] {
        let Ok(Decision::Modify(next)) = run(&edit, Some(&memory(before))) else {
            panic!("{before:?} is not modified")
        };
        assert_eq!(next.content, NextContent::Extended(added.into()), "{before:?}");
    }
    let sealed = Memory { is_sealed: true, ..memory("a") };
    assert_eq!(run(&edit, Some(&sealed)), Err(Refusal::Sealed));
}

#[test]
fn append_is_decided_without_the_content() {
    let current = Memory { content: None, ..memory("a") };
    let edit = append("b", "\n");
    assert!(!needs_content(&edit));
    let Ok(Decision::Modify(next)) = run(&edit, Some(&current)) else { panic!("not modified") };
    assert_eq!(next.content, NextContent::Extended("\nb".into()));
    assert_eq!(run(&append("", ""), Some(&current)), Ok(Decision::Unchanged));
    let empty = Memory { content: None, ..memory("") };
    assert_eq!(run(&append("", "\n"), Some(&empty)), Ok(Decision::Unchanged));
    let sealed = Memory { is_sealed: true, ..current };
    assert_eq!(run(&append("b", "\n"), Some(&sealed)), Err(Refusal::Sealed));
    assert_eq!(run(&append("", ""), Some(&sealed)), Err(Refusal::Sealed));
}

#[test]
fn sealed_content_is_not_edited_in_place() {
    let mut current = memory("x");
    current.content = Some(Content::Sealed(vec![1]));
    current.is_sealed = true;
    let replace = Edit {
        op: EditOp::Replace { old: "a".into(), new: "b".into(), which: Occurrence::First },
        ..put("", Expect::Anything)
    };
    assert_eq!(run(&replace, Some(&current)), Err(Refusal::Sealed));
}

#[test]
fn size_is_bounded_by_the_store() {
    let policy = StorePolicy { content_bytes_max: 3, ..StorePolicy::default() };
    let too_large = decide(&put("four", Expect::Anything), None, Some(&path("/a")), &policy, None);
    assert_eq!(too_large, Err(Refusal::TooLarge { bytes: 4, limit: 3 }));
    let current = Memory { content: None, ..memory("ab") };
    let append = |text| decide(&append(text, "\n"), Some(&current), None, &policy, None);
    assert_eq!(append("c"), Err(Refusal::TooLarge { bytes: 4, limit: 3 }));
    assert!(matches!(append(""), Ok(Decision::Modify(_))));
}

#[test]
fn removal_obeys_owner_and_expectation() {
    let current = memory("x");
    let remove = |expect| Edit::remove(At::Id(current.id), expect);
    assert_eq!(run(&remove(Expect::Anything), Some(&current)), Ok(Decision::Remove));
    assert_eq!(run(&remove(Expect::Anything), None), Err(Refusal::NotFound));
    let stale = remove(Expect::Digest(digest_of("y")));
    assert_eq!(run(&stale, Some(&current)), Err(Refusal::ExpectFailed));
    let policy = StorePolicy { remove: Who::Owner, ..StorePolicy::default() };
    let by = |who| decide(&remove(Expect::Anything), Some(&current), None, &policy, Some(who));
    assert_eq!(by(PrincipalId::from_u128(2)), Err(Refusal::NotOwner));
    assert_eq!(by(current.owner), Ok(Decision::Remove));
}
