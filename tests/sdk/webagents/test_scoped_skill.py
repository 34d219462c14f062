"""The memory skill that current agents load: its five tools on the server, and two devices in sync."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from webagents.agents.core.base_agent import BaseAgent
from webagents.agents.skills.local.memory.caller_scoped import NO_CALLER, NOT_YOURS, MemorySkill
from webagents.server.context.context_vars import create_context, set_context

from support import run, settled, word

OWNER = SimpleNamespace(authenticated=True, scope="owner")
NOBODY = None


def caller(user: str) -> SimpleNamespace:
    return SimpleNamespace(authenticated=True, scope="all", user_id=user)


class Device:
    """One machine that an agent runs on, with the skill as its agent file would load it."""

    def __init__(self, agent, folder, local: bool):
        self.skill = MemorySkill(
            {
                "portal": True,
                "local": local,
                "agent_id": agent.id,
                "api_key": agent.key,
                "robutler_api_url": os.environ["ROBUTLER_API_URL"],
                "agent_dir": str(folder),
                # Its index on disk waits for the disk at every note, and is not what is tried here.
                "plain_index": True,
            }
        )
        self._host = BaseAgent(name="notes")
        run(self.skill.initialize(self._host))
        self._tools = {each["name"]: each["function"] for each in self._host.get_all_tools()}

    def __call__(self, who, tool: str, **arguments):
        """A tool call in a conversation with somebody."""

        async def turn():
            context = create_context(agent=self._host)
            context.auth = who
            set_context(context)
            return await self._tools[f"memory_{tool}"](**arguments)

        return run(turn())

    def begin(self, who) -> None:
        """What happens at the start of a turn: the caller's notes are pulled."""
        context = create_context(agent=self._host)
        context.auth = who
        run(self.skill.pull_for_caller(context))

    def keys(self, who, **arguments) -> set[tuple[str, str]]:
        return {(entry["namespace"], entry["key"]) for entry in self(who, "list", **arguments)["entries"]}

    def found(self, who, query: str, **arguments) -> set[tuple[str, str]]:
        answer = self(who, "search", query=query, **arguments)
        return {(entry["namespace"], entry["key"]) for entry in answer["entries"]}


@pytest.fixture
def notes(ada, tmp_path):
    """The skill with the server as its only tier."""
    return Device(ada, tmp_path, local=False)


def test_the_five_tools(notes):
    needle = word()
    made = notes(OWNER, "write", key="preferences", content=f"likes {needle}", description="what she likes")
    assert (made["ok"], made["key"], made["namespace"]) == (True, "preferences", "owner")
    read = notes(OWNER, "read", key="preferences")
    assert read == {
        "key": "preferences", "namespace": "owner", "description": "what she likes",
        "content": f"likes {needle}", "updated_at": made["updated_at"],
    }  # fmt: skip
    (listed,) = notes(OWNER, "list")["entries"]
    assert listed == {key: read[key] for key in ("key", "namespace", "description", "updated_at")}
    settled(lambda: notes.found(OWNER, needle), {("owner", "preferences")})
    assert notes(OWNER, "search", query=needle)["entries"] == [read]
    assert notes(OWNER, "forget", key="preferences") == {"ok": True, "forgotten": 1}
    assert notes(OWNER, "forget", key="preferences") == {"ok": True, "forgotten": 0}
    assert notes(OWNER, "read", key="preferences") == {"error": "memory: no note called preferences."}
    assert notes(OWNER, "list") == {"entries": []}


def test_callers_are_kept_apart(notes):
    needle, ann, ben = word(), caller("ann"), caller("ben")
    notes(OWNER, "write", key="note", content=f"owner's {needle}")
    notes(OWNER, "write", key="hours", content=f"everybody's {needle}", namespace="shared")
    for each in (ann, ben):
        assert notes(each, "write", key="note", content=f"{each.user_id}'s {needle}")["ok"]
    assert notes(ann, "read", key="note")["content"] == f"ann's {needle}"
    assert notes(ben, "read", key="note")["content"] == f"ben's {needle}"
    assert notes(OWNER, "read", key="note")["content"] == f"owner's {needle}"
    assert notes(ann, "read", key="hours")["content"] == f"everybody's {needle}"
    hers = {("caller:user:ann", "note"), ("shared", "hours")}
    assert notes.keys(ann) == hers
    settled(lambda: notes.found(ann, needle), hers)
    every = hers | {("caller:user:ben", "note"), ("owner", "note")}
    assert notes.keys(OWNER) == notes.found(OWNER, needle) == every
    assert notes.keys(NOBODY) == notes.found(NOBODY, needle) == {("shared", "hours")}
    assert notes.keys(OWNER, namespace="caller:user:ben") == {("caller:user:ben", "note")}


def test_what_a_caller_may_not_do(notes):
    ann = caller("ann")
    notes(OWNER, "write", key="note", content="owner's")
    notes(OWNER, "write", key="hours", content="everybody's", namespace="shared")
    for namespace in ("owner", "caller:user:ben"):
        assert notes(ann, "read", key="note", namespace=namespace) == {"error": NOT_YOURS}
        assert notes(ann, "list", namespace=namespace) == {"error": NOT_YOURS}
        assert notes(ann, "search", query="owner", namespace=namespace) == {"error": NOT_YOURS}
        assert notes(ann, "forget", key="note", namespace=namespace) == {"error": NOT_YOURS}
    assert notes(ann, "forget", key="hours", namespace="shared") == {"error": NOT_YOURS}
    # Whatever it asks for, its note is its own.
    assert notes(ann, "write", key="note", content="ann's", namespace="owner")["namespace"] == "caller:user:ann"
    assert notes(NOBODY, "write", key="note", content="nobody's") == {"error": NO_CALLER}
    assert notes(OWNER, "read", key="note")["content"] == "owner's"


def test_the_owner_sees_what_is_kept(notes):
    for number in range(3):
        notes(OWNER, "write", key=f"note{number}", content=f"# Title {number}\n\ntext")
    notes(OWNER, "write", key="hours", content="nine to five", namespace="shared")
    notes(caller("ann"), "write", key="note", content="ann's")
    summary = run(notes.skill.owner_summary())
    assert (summary["owner"], summary["shared"], summary["callers"], summary["caller_notes"]) == (3, 1, 1, 1)
    assert [each["key"] for each in summary["recent"]] == ["note2", "note1", "note0"]
    assert run(notes.skill.has_own_note("note1")) is True
    assert run(notes.skill.has_own_note("hours")) is False
    assert run(notes.skill.forget_own("note1")) is True


def test_the_index_in_the_prompt(notes):
    notes(OWNER, "write", key="preferences", content="likes blue", description="what she likes")
    notes(OWNER, "write", key="hours", content="nine to five", namespace="shared")
    run(notes.skill.write("owner", "episode", "an earlier conversation", "compaction"))
    owner, shared = run(notes.skill.notes_sections_for("owner"))
    assert [entry["key"] for entry in owner["entries"]] == ["preferences"]
    assert [entry["key"] for entry in shared["entries"]] == ["hours"]


def test_a_refusal_reaches_the_model_as_a_sentence(loci, ada, notes):
    loci.admin("DELETE", f"/v1/api_keys/{ada.key_id}")
    for tool, arguments in {
        "read": {"key": "k"},
        "list": {},
        "search": {"query": "q"},
        "write": {"key": "k", "content": "c"},
        "forget": {"key": "k"},
    }.items():
        answer = notes(OWNER, tool, **arguments)
        assert set(answer) == {"error"}
        assert answer["error"].startswith("memory: the platform answered 401 (")


def test_two_devices(ada, tmp_path):
    one = Device(ada, tmp_path / "one", local=True)
    two = Device(ada, tmp_path / "two", local=True)
    one(OWNER, "write", key="plan", content="from one", description="the plan")
    one(OWNER, "write", key="hours", content="nine to five", namespace="shared")
    two.begin(OWNER)
    assert two(OWNER, "read", key="plan")["content"] == "from one"
    assert two(OWNER, "read", key="plan")["description"] == "the plan"
    assert two.keys(OWNER) == {("owner", "plan"), ("shared", "hours")}
    two(OWNER, "write", key="plan", content="from two")
    two(OWNER, "forget", key="hours", namespace="shared")
    run(one.skill.pull(["owner", "shared"]))
    assert one(OWNER, "read", key="plan")["content"] == "from two"
    assert one.keys(OWNER) == {("owner", "plan")}
    # Nothing is left to say in either direction.
    for device in (one, two):
        assert run(device.skill.pull(["owner", "shared"])) == 0
        assert run(device.skill.push()) == 0
    # A third one begins with what is there now, and never hears of what was forgotten.
    three = Device(ada, tmp_path / "three", local=True)
    three.begin(OWNER)
    assert three.keys(OWNER) == {("owner", "plan")}


def test_a_device_catches_up_after_being_away(ada, tmp_path):
    """Two devices write the same keys apart; the later one wins on both, whoever pushes first."""
    one = Device(ada, tmp_path / "one", local=True)
    one(OWNER, "write", key="both", content="first")
    two = Device(ada, tmp_path / "two", local=True)
    two.begin(OWNER)
    two(OWNER, "write", key="both", content="second")
    two(OWNER, "write", key="two-only", content="two's")
    one(OWNER, "write", key="one-only", content="one's")
    for device in (one, two):
        run(device.skill.pull(["owner"]))
    for device in (one, two):
        assert device(OWNER, "read", key="both")["content"] == "second"
        assert device.keys(OWNER) == {("owner", "both"), ("owner", "one-only"), ("owner", "two-only")}
    later = Device(ada, tmp_path / "one", local=True)
    assert later(OWNER, "read", key="both")["content"] == "second"


def test_callers_notes_follow_the_caller(ada, tmp_path):
    ann, ben = caller("ann"), caller("ben")
    one, two = Device(ada, tmp_path / "one", local=True), Device(ada, tmp_path / "two", local=True)
    one(ann, "write", key="note", content="ann's")
    one(OWNER, "write", key="note", content="owner's")
    two.begin(ann)
    assert two(ann, "read", key="note")["content"] == "ann's"
    # Only what Ann may see came along with her.
    assert two.keys(OWNER) == {("caller:user:ann", "note")}
    two.begin(ben)
    assert two.keys(ben) == set()


def test_a_device_pulls_every_page(ada, tmp_path):
    """More notes than a page holds, through the client's own loop."""
    lines = [
        {
            "op": "put", "id": "any", "namespace": "owner", "key": f"n{number:04}", "content": str(number),
            "source": "tool", "at": "2026-01-01T00:00:00.000Z",
        }
        for number in range(1100)
    ]  # fmt: skip
    assert run(ada.scoped().push("owner", lines)) == 1100
    device = Device(ada, tmp_path, local=True)
    assert run(device.skill.pull(["owner"])) == 1100
    assert device(OWNER, "read", key="n1099")["content"] == "1099"
    assert run(device.skill.pull(["owner"])) == 0
