"""Caller-scoped memory through the client's own portal store: get, list, search, put, forget."""

from __future__ import annotations

import re

import pytest
from webagents.agents.skills.local.memory.memory_namespace import entry_id_for
from webagents.agents.skills.local.memory.portal_memory_store import MemoryPortalError, PortalMemoryStore

from support import SCOPED, iso, new_id, run, settled, word

MOMENT = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
FIXTURE_AGENT = "7f3c2a10-5b6e-4c8d-9e1f-0a2b3c4d5e6f"
ENTRY_KEYS = {"id", "namespace", "key", "content", "source", "created_at", "updated_at"}


@pytest.fixture
def notes(ada):
    return ada.scoped()


def refused(status: int):
    return pytest.raises(MemoryPortalError, match=rf"^memory: the platform answered {status} \(.+\)\.$")


def outline(entries):
    return [(entry.namespace, entry.key) for entry in entries]


def test_put_and_get(ada, notes):
    assert run(notes.get("owner", "preferences")) is None
    before = iso()
    made = run(notes.put("owner", "preferences", "likes *blue*", description="what she likes"))
    read = run(notes.get("owner", "preferences"))
    assert read == made
    assert (read.namespace, read.key, read.content) == ("owner", "preferences", "likes *blue*")
    assert (read.source, read.description) == ("tool", "what she likes")
    assert read.id == entry_id_for(ada.id, "owner", "preferences")
    assert MOMENT.match(read.created_at) and MOMENT.match(read.updated_at)
    assert before <= read.created_at == read.updated_at <= iso()


def test_what_is_on_the_wire(loci, ada, notes):
    run(notes.put("owner", "plain", ""))
    run(notes.put("owner", "told", "text", description="one line"))
    query = {"action": "get", "namespace": "owner", "agentId": ada.id}
    plain = loci.call("GET", SCOPED, ada.key, params={**query, "key": "plain"}).json()["entry"]
    assert ENTRY_KEYS <= set(plain) <= ENTRY_KEYS | {"description"}
    assert plain["content"] == "" and not plain.get("description")
    told = loci.call("GET", SCOPED, ada.key, params={**query, "key": "told"}).json()["entry"]
    assert set(told) == ENTRY_KEYS | {"description"}
    missing = loci.call("GET", SCOPED, ada.key, params={**query, "key": "missing"})
    assert (missing.status_code, missing.json()) == (200, {"entry": None})


def test_ids_are_the_same_everywhere(loci):
    """The vector that both SDKs are held to."""
    known = {each["name"]: each for each in loci.admin("GET", "/v1/principals")["data"]}
    if FIXTURE_AGENT in known:
        agent = loci.keyed(known[FIXTURE_AGENT])
    else:
        agent = loci.agent(FIXTURE_AGENT)
    made = run(agent.scoped().put("owner", "preferences", "any"))
    assert made.id == "e109e6ea-d0df-5a6c-b659-4f81dba13d4f"


def test_a_write_replaces_and_keeps_when_it_began(notes):
    first = run(notes.put("owner", "plan", "one", description="the plan"))
    second = run(notes.put("owner", "plan", "two"))
    assert (second.id, second.created_at, second.content) == (first.id, first.created_at, "two")
    assert second.updated_at >= first.updated_at
    assert second.description == ""
    assert run(notes.forget("owner", "plan")) is True
    third = run(notes.put("owner", "plan", "three"))
    assert third.id == first.id and third.created_at == third.updated_at >= second.updated_at


def test_a_moment_that_is_given_is_kept(notes):
    at = "2026-01-02T03:04:05.678Z"
    made = run(notes.put("owner", "plan", "old", at=at))
    assert (made.created_at, made.updated_at) == (at, at)
    later = run(notes.put("owner", "plan", "new", at="2026-01-03T00:00:00.000Z"))
    assert (later.created_at, later.updated_at) == (at, "2026-01-03T00:00:00.000Z")


@pytest.mark.parametrize("source", ["tool", "compaction", "owner", "sync"])
def test_sources(notes, source):
    assert run(notes.put("owner", "note", "text", source=source)).source == ("tool" if source == "sync" else source)


def test_forget(notes):
    assert run(notes.forget("owner", "plan")) is False
    run(notes.put("owner", "plan", "one"))
    run(notes.put("shared", "plan", "one"))
    assert run(notes.forget("owner", "plan")) is True
    assert run(notes.forget("owner", "plan")) is False
    assert run(notes.get("owner", "plan")) is None
    assert run(notes.get("shared", "plan")).content == "one"
    assert outline(run(notes.list(None))) == [("shared", "plan")]


def test_list_is_newest_first(notes):
    for day, key in enumerate(("b", "c", "a"), start=1):
        run(notes.put("owner", key, key, at=f"2026-01-0{day}T00:00:00.000Z"))
    assert outline(run(notes.list(["owner"]))) == [("owner", "a"), ("owner", "c"), ("owner", "b")]
    run(notes.put("owner", "b", "again", at="2026-01-09T00:00:00.000Z"))
    assert [entry.key for entry in run(notes.list(None))] == ["b", "a", "c"]
    assert [entry.key for entry in run(notes.list(None, limit=2))] == ["b", "a"]


def test_list_narrows(notes):
    run(notes.put("owner", "plan.one", "1"))
    run(notes.put("owner", "plan_two", "2", source="compaction"))
    run(notes.put("shared", "plan.three", "3", source="owner"))
    run(notes.put("caller:user:7", "other", "4"))

    def listed(namespaces=None, **options):
        return set(outline(run(notes.list(namespaces, **options))))

    every = {("owner", "plan.one"), ("owner", "plan_two"), ("shared", "plan.three"), ("caller:user:7", "other")}
    assert listed() == every
    assert listed(["owner"]) == {("owner", "plan.one"), ("owner", "plan_two")}
    assert listed(["shared", "caller:user:7"]) == {("shared", "plan.three"), ("caller:user:7", "other")}
    assert listed(prefix="plan.") == {("owner", "plan.one"), ("shared", "plan.three")}
    assert listed(prefix="plan_") == {("owner", "plan_two")}
    assert listed(exclude_sources=["compaction"]) == every - {("owner", "plan_two")}
    assert listed(exclude_sources=["compaction", "owner"]) == {("owner", "plan.one"), ("caller:user:7", "other")}
    assert listed(["caller:user:8"]) == set()
    # More than anybody has is everything, not an error.
    assert listed(limit=100_000) == every


def test_a_note_beyond_the_page_is_still_there(notes):
    """`prefix` is looked for before the page is cut."""
    for number in range(12):
        run(notes.put("owner", f"n{number:02}", "x"))
    assert [entry.key for entry in run(notes.list(["owner"], prefix="n00", limit=1))] == ["n00"]


def test_search(notes):
    needle = word()
    run(notes.put("owner", "boats", f"she builds {needle} boats"))
    run(notes.put("owner", "trains", "she likes trains"))
    run(notes.put("shared", "hours", f"open for {needle}"))
    run(notes.put("caller:user:7", "mine", f"caller's {needle}"))

    def found(namespaces=None, **options):
        """Whatever holds the word; what is alike in meaning may come after it."""
        entries = run(notes.search(needle, namespaces, **options))
        return set(outline(entry for entry in entries if needle in entry.content))

    every = {("owner", "boats"), ("shared", "hours"), ("caller:user:7", "mine")}
    settled(found, every)
    assert found(["owner"]) == {("owner", "boats")}
    assert found(["shared", "caller:user:7"]) == {("shared", "hours"), ("caller:user:7", "mine")}
    assert found(["caller:user:8"]) == set()
    assert len(found(limit=1)) == 1
    run(notes.forget("owner", "boats"))
    settled(found, every - {("owner", "boats")})


def test_a_description_is_found_too(notes):
    needle = word()
    for key in ("trains", "boats", "planes"):
        about = needle if key == "boats" else "something else"
        run(notes.put("owner", key, "nothing of it in the text", description=f"about {about}"))
    settled(lambda: outline(run(notes.search(needle, None)))[:1], [("owner", "boats")])


def test_agents_are_kept_apart(ada, bob):
    needle = word()
    run(ada.scoped().put("owner", "note", f"ada's {needle}"))
    run(ada.scoped().put("shared", "note", f"ada's shared {needle}"))
    run(bob.scoped().put("owner", "note", f"bob's {needle}"))
    assert run(ada.scoped().get("owner", "note")).content == f"ada's {needle}"
    assert outline(run(bob.scoped().list(None))) == [("owner", "note")]
    assert run(bob.scoped().get("shared", "note")) is None
    settled(lambda: outline(run(bob.scoped().search(needle, None))), [("owner", "note")])


def test_an_agent_cannot_pass_for_another(ada, eve):
    run(ada.scoped().put("owner", "note", "ada's"))
    spoof = ada.scoped(key=eve.key)
    for ask in (
        lambda: spoof.get("owner", "note"),
        lambda: spoof.list(None),
        lambda: spoof.search("ada", None),
        lambda: spoof.put("owner", "note", "forged"),
        lambda: spoof.forget("owner", "note"),
        lambda: spoof.pull("owner", None),
        lambda: spoof.push("owner", []),
    ):
        with refused(403):
            run(ask())
    assert run(ada.scoped().get("owner", "note")).content == "ada's"


def test_without_an_agent_id_it_is_the_keys_agent(ada):
    bare = PortalMemoryStore(ada.scoped().portal_url, token=lambda: ada.key)
    made = run(bare.put("owner", "note", "text"))
    assert made.id == entry_id_for(ada.id, "owner", "note")
    assert run(ada.scoped().get("owner", "note")) == made


def test_a_platform_key_names_the_agent(loci, ada, bob):
    platform = loci.service_key()["secret"]
    run(ada.scoped(key=platform).put("owner", "note", "through the platform"))
    assert run(ada.scoped().get("owner", "note")).content == "through the platform"
    assert run(bob.scoped(key=platform).list(None)) == []


def test_a_bad_credential(ada):
    with refused(401):
        run(ada.scoped(key="no-such-key").get("owner", "note"))


def test_notes_about_callers_are_not_part_of_the_agents_open_store(ada, bob):
    """Giving away the agent's store gives away nothing of what its callers told it."""
    needle = word()
    run(ada.scoped().put("caller:user:7", "secret", f"private {needle}"))
    run(ada.scoped().put("owner", "secret", f"private {needle}"))
    owner, guest = ada.memory(), bob.memory()
    owner("set", key="open", value=f"open {needle}")
    owner("share", agent=bob.id, level="readwrite")
    settled(lambda: guest.hits(needle), {(ada.id, "open")})
    assert guest.keys(store=ada.id) == ["open"]
    assert guest("get", store=ada.id, key="secret") is None


@pytest.mark.parametrize(
    "query",
    [
        {"action": "nothing"},
        {"action": "list", "namespaces": "owner,shared"},
        {"action": "list", "excludeSources": "tool,sync"},
        {"action": "list", "namespace": "somebody"},
        {"action": "list", "namespace": "caller:"},
        {"action": "list", "namespace": "caller:a b"},
        {"action": "list", "namespace": "caller:a,owner"},
        {"action": "list", "namespace": "wa:owner"},
        {"action": "list", "limit": "many"},
        {"action": "get", "namespace": "owner"},
        {"action": "get", "namespace": "owner", "key": "a/b"},
        {"action": "get", "namespace": "owner", "key": ".hidden"},
        {"action": "get", "namespace": "owner", "key": "x" * 129},
        {"action": "get", "key": "note"},
        {"action": "search", "namespace": "owner"},
        {"action": "sync"},
    ],
    ids=str,
)
def test_what_means_nothing_is_refused(loci, ada, query):
    answer = loci.call("GET", SCOPED, ada.key, params={**query, "agentId": ada.id})
    assert answer.status_code == 400, answer.text
    assert isinstance(answer.json()["error"], str) and answer.json()["error"]


@pytest.mark.parametrize(
    "body",
    [
        {"namespace": "somebody"},
        {"namespace": None},
        {"key": "a/b"},
        {"key": "k\n"},
        {"content": None},
        {"content": 7},
        {"source": "nowhere"},
        {"at": "yesterday"},
    ],
    ids=str,
)
def test_a_note_that_means_nothing_is_refused(loci, ada, body):
    whole = {"agentId": ada.id, "namespace": "owner", "key": "note", "content": "x", "source": "tool", "at": None}
    answer = loci.call("PUT", SCOPED, ada.key, params={"agentId": ada.id}, json={**whole, **body})
    assert answer.status_code == 400, answer.text
    assert isinstance(answer.json()["error"], str)
    assert run(ada.scoped().list(None)) == []


@pytest.mark.parametrize(
    "namespace",
    ["caller:user:7", "caller:agent:" + "x" * 294, "caller:https://a.example/b?c=d&e", "caller:ж☃"],
)
def test_any_caller_has_a_namespace(notes, namespace):
    run(notes.put(namespace, "note", "text"))
    assert run(notes.get(namespace, "note")).namespace == namespace
    assert outline(run(notes.list([namespace]))) == [(namespace, "note")]
    assert run(notes.forget(namespace, "note")) is True


@pytest.mark.parametrize("key", ["a", "A.b-c_d", "9", "x" * 128, "con..fig"])
def test_keys(notes, key):
    run(notes.put("owner", key, "text"))
    assert run(notes.get("owner", key)).key == key


@pytest.mark.parametrize("content", ["", "# Markdown\n\n- ü ☃ 🦀\r\n", '{"json": 1}', "\u0000", "word " * 5000])
def test_contents(notes, content):
    run(notes.put("owner", "note", content))
    assert run(notes.get("owner", "note")).content == content


def test_nobody_elses_store_is_named_by_a_stranger(eve):
    with refused(403):
        run(eve.scoped(agent_id=new_id()).list(None))
