"""Sessions as far as attaching stores needs them: create, read back, snapshots, slugs, refusals, the note."""

from __future__ import annotations

import re
import uuid

import pytest

from support import ATTACHMENT_KEYS, SESSION_AGENT_KEYS, SESSION_KEYS, attach, invalid, keys, missing, unknown


def test_session_without_stores_has_every_key_and_starts_idle(make_session):
    session = make_session()
    assert keys(session) == SESSION_KEYS
    assert session.id.startswith("sesn_")
    assert (session.type, session.status) == ("session", "idle")
    assert session.environment_id == "env_01SuiteEnvironment"
    assert (session.title, session.metadata, session.archived_at) == (None, {}, None)
    assert (session.resources, session.vault_ids, session.outcome_evaluations) == ([], [], [])


def test_session_agent_has_every_key(make_session):
    agent = make_session().agent
    assert keys(agent) == SESSION_AGENT_KEYS
    assert (agent.id, agent.type) == ("agent_01SuiteAgent", "agent")
    assert isinstance(agent.version, int)
    assert agent.to_dict(mode="json")["execution_identity"] == {"type": "service_account"}


def test_agent_may_be_an_object_with_a_version(make_session):
    agent = make_session(agent={"type": "agent", "id": "agent_01Pinned", "version": 3}).agent
    assert (agent.id, agent.version) == ("agent_01Pinned", 3)


def test_session_keeps_title_and_metadata(client, make_session):
    session = make_session(title="Research", metadata={"team": "blue"})
    read = client.beta.sessions.retrieve(session.id)
    assert read == session
    assert (read.title, read.metadata) == ("Research", {"team": "blue"})


def test_vault_ids_are_kept(make_session):
    assert make_session(vault_ids=["vlt_01One", "vlt_01Two"]).vault_ids == ["vlt_01One", "vlt_01Two"]


@pytest.mark.needs("agent_overrides")
def test_what_an_agent_overrides_can_be_read_back(client, make_session):
    """The strict client fails on any shape its own types do not know."""
    agent = {
        "type": "agent_with_overrides",
        "id": "agent_01Overridden",
        "version": 2,
        "system": "be brief",
        "model": {"id": "claude-opus-5", "effort": "high", "speed": "fast"},
        "skills": [{"type": "anthropic", "skill_id": "xlsx"}, {"type": "custom", "skill_id": "skill_1", "version": "3"}],
        "mcp_servers": [{"type": "url", "name": "wiki", "url": "https://wiki.example/mcp"}],
        "tools": [
            {"type": "agent_toolset_20260401"},
            {
                "type": "agent_toolset_20260401",
                "default_config": {"enabled": False},
                "configs": [{"name": "bash", "permission_policy": {"type": "always_ask"}},
                            {"name": "web_search", "allowed_domains": ["example.org"],
                             "user_location": {"type": "approximate", "city": "Bern"}}],
            },
            {"type": "mcp_toolset", "mcp_server_name": "wiki", "configs": [{"name": "search"}]},
            {"type": "custom", "name": "add", "description": "adds",
             "input_schema": {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}},
        ],
    }  # fmt: skip
    session = make_session(agent=agent)
    read = client.beta.sessions.retrieve(session.id).agent
    assert (read.type, read.version, read.system, read.model.id) == ("agent", 2, "be brief", "claude-opus-5")
    assert [skill.version for skill in read.skills] == ["latest", "3"]
    assert [tool.type for tool in read.tools] == [tool["type"] for tool in agent["tools"]]
    assert (read.tools[0].default_config.enabled, read.tools[1].configs[0].enabled) == (True, False)
    assert client.beta.sessions.list(agent_id="agent_01Overridden").data[0].agent == read


def test_what_no_client_could_read_back_is_refused(make_session):
    agent = {"type": "agent", "id": "agent_01Odd"}
    for fields in (
        {"extra_body": {"budget": {"type": "limit"}}},
        {"extra_body": {"budget": {"type": "limit", "max_list_cost": {"amount": 5, "currency": "USD"}}}},
        {"extra_body": {"budget": {"type": "limit", "max_list_cost": {"amount": "5", "currency": "EUR"}}}},
        {"vault_ids": [""]},
        {"extra_body": {"vault_ids": [1]}},
        {"metadata": {"k": 1}},
        {"agent": {**agent, "tools": [{"type": "teapot"}]}},
        {"agent": {**agent, "skills": [{"type": "anthropic"}]}},
        {"agent": {**agent, "mcp_servers": [{"name": "no type"}]}},
        {"agent": {**agent, "model": {"speed": "fast"}}},
        {"agent": {**agent, "multiagent": {"type": "coordinator", "agents": []}}},
        {"extra_body": {"initial_events": ["hello"]}},
    ):
        with invalid():
            make_session(**fields)


@pytest.mark.needs("session_budget")
def test_budget_is_kept_and_up_to_50_initial_events_are_accepted(client, make_session):
    budget = {"type": "limit", "max_list_cost": {"amount": "1250", "currency": "USD"}}
    event = {"type": "user.message", "content": [{"type": "text", "text": "begin"}]}
    session = make_session(budget=budget, initial_events=[event] * 50)
    assert client.beta.sessions.retrieve(session.id).budget.to_dict(mode="json") == budget
    with invalid():
        make_session(initial_events=[event] * 51)


def test_attached_store_reads_back_with_exactly_seven_keys(client, make_store, make_session):
    store = make_store("Demo Memory", description="what the agent should know")
    session = make_session(attach(store, access="read_only", instructions="look here first"))
    (attachment,) = client.beta.sessions.retrieve(session.id).resources
    assert attachment.to_dict(mode="json", exclude_unset=True) == {
        "type": "memory_store",
        "memory_store_id": store.id,
        "access": "read_only",
        "instructions": "look here first",
        "name": "Demo Memory",
        "description": "what the agent should know",
        "mount_path": "/mnt/memory/demo-memory",
    }


@pytest.mark.parametrize("fields", [{}, {"access": None, "instructions": None}, {"access": "read_write"}])
def test_access_defaults_to_read_write_and_instructions_to_null(store, make_session, fields):
    (attachment,) = make_session(attach(store, **fields)).resources
    assert keys(attachment) == ATTACHMENT_KEYS
    assert (attachment.access, attachment.instructions, attachment.description) == ("read_write", None, "")


def test_attachment_is_a_snapshot_that_survives_rename_archive_and_delete_of_the_store(
    client, make_store, make_session
):
    store = make_store("First Name", description="first words")
    session = make_session(attach(store))
    client.beta.memory_stores.update(store.id, name="Second Name", description="second words")
    assert client.beta.sessions.retrieve(session.id).resources == session.resources
    client.beta.memory_stores.archive(store.id)
    assert client.beta.sessions.retrieve(session.id).resources == session.resources
    client.beta.memory_stores.delete(store.id)
    assert client.beta.sessions.retrieve(session.id).resources == session.resources
    assert session.resources[0].mount_path == "/mnt/memory/first-name"


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("notes", "notes"),
        ("User Preferences", "user-preferences"),
        ("A__B  !!  c", "a-b-c"),
        ("v2.0 (final)", "v2-0-final-"),
        ("~tilde", "-tilde"),
        ("Über uns", "-ber-uns"),
        ("x/../y", "x-y"),
        ("日本 notes", "-notes"),
        ("UPPER123", "upper123"),
    ],
)
def test_mount_path_is_the_lowercased_name_with_one_hyphen_per_run_of_other_characters(
    make_store, make_session, name, slug
):
    (attachment,) = make_session(attach(make_store(name))).resources
    assert attachment.mount_path == f"/mnt/memory/{slug}"


@pytest.mark.parametrize("name", ["!!!", "-", "日本語"])
def test_a_name_without_letters_or_digits_mounts_at_the_store_id(make_store, make_session, name):
    store = make_store(name)
    (attachment,) = make_session(attach(store)).resources
    assert attachment.mount_path == f"/mnt/memory/{store.id}"


def test_eight_stores_can_be_attached_in_order_and_a_ninth_is_refused(make_store, make_session):
    stores = [make_store(f"store number {index}") for index in range(9)]
    session = make_session(*[attach(store) for store in stores[:8]])
    assert [attachment.memory_store_id for attachment in session.resources] == [store.id for store in stores[:8]]
    with invalid():
        make_session(*[attach(store) for store in stores])


def test_unknown_store_is_not_found(make_session):
    with missing():
        make_session(attach(unknown("memstore")))


def test_archived_store_is_refused(client, store, make_session):
    client.beta.memory_stores.archive(store.id)
    with invalid():
        make_session(attach(store))


def test_the_same_store_twice_is_refused(store, make_session):
    with invalid():
        make_session(attach(store), attach(store))


def test_two_stores_with_one_mount_path_are_refused(make_store, make_session):
    with invalid():
        make_session(attach(make_store("My Notes")), attach(make_store("my-notes")))


def test_instructions_of_4096_characters_are_accepted_and_4097_refused(store, make_session):
    assert make_session(attach(store, instructions="é" * 4096)).resources[0].instructions == "é" * 4096
    with invalid():
        make_session(attach(store, instructions="é" * 4097))


@pytest.mark.parametrize(
    "resource",
    [
        {"type": "memory_store"},
        {"type": "memory_store", "memory_store_id": 7},
        {"type": "teapot", "memory_store_id": "memstore_x"},
        {"memory_store_id": "memstore_x"},
    ],
)
def test_malformed_resource_is_refused(make_session, resource):
    with invalid():
        make_session(resource)


@pytest.mark.parametrize("extra", [{"access": "write_only"}, {"mount_path": "/etc"}, {"name": "x"}])
def test_unknown_access_or_field_in_a_resource_is_refused(store, make_session, extra):
    with invalid():
        make_session(attach(store, **extra))


def test_a_refused_attachment_makes_no_session(client, store, make_session):
    agent = f"agent_{uuid.uuid4().hex}"
    with missing():
        make_session(attach(store), attach(unknown("memstore")), agent=agent)
    assert client.beta.sessions.list(agent_id=agent).data == []


def test_a_memory_store_cannot_be_added_to_an_existing_session(client, store, make_session):
    session = make_session()
    with invalid():
        client.post(
            f"/v1/sessions/{session.id}/resources",
            cast_to=object,
            body=attach(store),
            options={"headers": {"anthropic-beta": "managed-agents-2026-04-01"}},
        )
    assert client.beta.sessions.retrieve(session.id).resources == []


def test_resources_list_answers_every_attachment_and_pages(client, make_store, make_session):
    stores = [make_store(f"listed {index}") for index in range(3)]
    session = make_session(*[attach(store) for store in stores])
    resources = client.beta.sessions.resources
    page = resources.list(session.id)
    assert page.data == session.resources and page.next_page is None
    assert all(keys(attachment) == ATTACHMENT_KEYS for attachment in page.data)
    paged = resources.list(session.id, limit=1)
    assert len(paged.data) == 1
    assert [attachment.memory_store_id for attachment in paged] == [store.id for store in stores]


def test_note_carries_five_facts_for_every_store(client, make_store, make_session):
    first = make_store("Team Handbook", description="how the team works")
    second = make_store("Scratch Pad", description="loose ends")
    session = make_session(
        attach(first, access="read_only", instructions="consult before answering"),
        attach(second, instructions="write down what you learn"),
    )
    note = client.get(f"/v1/sessions/{session.id}/note", cast_to=object)
    assert set(note) == {"type", "text"}
    assert note["type"] == "session_note"
    for fact in (
        "Team Handbook", "/mnt/memory/team-handbook", "how the team works", "consult before answering",
        "Scratch Pad", "/mnt/memory/scratch-pad", "loose ends", "write down what you learn",
    ):  # fmt: skip
        assert fact in note["text"]
    assert len(re.findall(r"read[-_ ]only", note["text"])) >= 1
    assert len(re.findall(r"read[-_ ](?:and[-_ ])?write", note["text"])) >= 1


def test_note_of_an_unknown_session_is_not_found(client):
    with missing():
        client.get(f"/v1/sessions/{unknown('sesn')}/note", cast_to=object)


@pytest.mark.needs("managed_agents")
def test_an_agent_and_an_environment_made_first_and_a_session_with_files_beside_its_store(client, make_store):
    """The order in which code written for the service goes: agent, environment, session."""
    agent = client.beta.agents.create(name="Scout", model="claude-opus-5", system="be brief", metadata={"team": "red"})
    assert (agent.type, agent.version, agent.name, agent.system) == ("agent", 1, "Scout", "be brief")
    assert (agent.model.id, agent.metadata, agent.archived_at) == ("claude-opus-5", {"team": "red"}, None)
    assert client.beta.agents.retrieve(agent.id) == agent
    environment = client.beta.environments.create(
        name="cloud", config={"type": "cloud", "networking": {"type": "limited", "allowed_hosts": ["example.org"]}}
    )
    assert (environment.type, environment.name) == ("environment", "cloud")
    assert environment.config.networking.allowed_hosts == ["example.org"]
    assert environment.description == ""
    assert client.beta.environments.retrieve(environment.id) == environment
    assert client.beta.agents.retrieve(agent.id, version=1) == agent
    with missing():
        client.beta.agents.retrieve(agent.id, version=2)
    store = make_store("Demo")
    session = client.beta.sessions.create(
        agent=agent.id,
        environment_id=environment.id,
        resources=[
            {"type": "file", "file_id": "file_011CNha8iCJcU1wXNR6q4V8w"},
            {"type": "github_repository", "url": "https://github.com/example/tools", "authorization_token": "ghp_secret"},
            attach(store),
        ],
    )
    assert (session.agent.id, session.agent.name, session.agent.system) == (agent.id, "Scout", "be brief")
    assert session.environment_id == environment.id
    assert [resource.type for resource in session.resources] == ["file", "github_repository", "memory_store"]
    assert session.resources[0].mount_path == "/mnt/session/uploads/file_011CNha8iCJcU1wXNR6q4V8w"
    assert session.resources[1].mount_path == "/workspace/tools"
    assert "ghp_secret" not in session.to_json()
    added = client.beta.sessions.resources.add(session.id, type="file", file_id="file_2", mount_path="/data/two.csv")
    assert (added.type, added.file_id, added.mount_path) == ("file", "file_2", "/data/two.csv")
    assert client.beta.sessions.resources.retrieve(added.id, session_id=session.id) == added
    listed = client.beta.sessions.resources.list(session.id).data
    assert [resource.type for resource in listed] == ["file", "github_repository", "memory_store", "file"]
    assert client.beta.sessions.retrieve(session.id).resources == listed
    repository = listed[1]
    rotated = client.beta.sessions.resources.update(
        repository.id, session_id=session.id, authorization_token="ghp_newer"
    )
    assert (rotated.id, rotated.url, rotated.created_at) == (repository.id, repository.url, repository.created_at)
    assert rotated.updated_at > repository.updated_at
    with invalid():
        client.beta.sessions.resources.update(added.id, session_id=session.id, authorization_token="ghp_newer")
    gone = client.beta.sessions.resources.delete(listed[0].id, session_id=session.id)
    assert (gone.id, gone.type) == (listed[0].id, "session_resource_deleted")
    left = client.beta.sessions.resources.list(session.id).data
    assert [resource.type for resource in left] == ["github_repository", "memory_store", "file"]
    assert "ghp_newer" not in client.beta.sessions.retrieve(session.id).to_json()
    client.beta.sessions.delete(session.id)
