"""Agents: made, adopted, shown and changed, parsed by the release's strict models."""

from __future__ import annotations

import pytest
from deepnoodle.mobius import Agent, AuthRevokedError, CreateAgentRequest, MobiusAPIError
from deepnoodle.mobius._api.models import AgentListResponse

from support import HAS_USERS, save


def test_an_agent_is_made_and_found(client, server, agent):
    made = client.create_agent(CreateAgentRequest(name=agent, description="for a test", tags={"a": "b"}))
    assert made.name == agent and made.id.startswith("agent_") and made.status.value == "active"
    with pytest.raises(MobiusAPIError) as refused:
        client.create_agent(CreateAgentRequest(name=agent))
    assert (refused.value.status, refused.value.code) == (409, "already_exists")
    assert Agent.model_validate(server.raw("GET", server.agent(agent)).json()) == made
    assert Agent.model_validate(server.raw("GET", server.agent(made.id)).json()) == made
    listed = server.raw("GET", server.agents(f"?name={agent}")).json()
    assert AgentListResponse.model_validate(listed).items == [made]
    save(client, made.id, "k")
    assert client.get_agent_memory(agent).agent_id == made.id


def test_an_agent_is_adopted_by_its_reference(client, agent):
    request = CreateAgentRequest(name=agent, memory_context={"mode": "full", "max_bytes": 5000})
    made = client.create_agent(request, adopt_existing=True, external_ref=f"ref-{agent}")
    again = client.create_agent(request, adopt_existing=True, external_ref=f"ref-{agent}")
    assert again == made and made.external_ref == f"ref-{agent}"
    assert made.memory_context is not None and made.memory_context.max_bytes == 5000
    with pytest.raises(MobiusAPIError) as refused:
        other = CreateAgentRequest(name=f"{agent}-2")
        client.create_agent(other, adopt_existing=True, external_ref=f"ref-{agent}")
    assert refused.value.code == MobiusAPIError.EXTERNAL_IDENTITY_CONFLICT


def test_settings_are_changed(client, server, agent):
    client.create_agent(CreateAgentRequest(name=agent))
    patch = lambda body: server.raw("PATCH", server.agent(agent), json=body)
    off = Agent.model_validate(patch({"memory_context": {"mode": "off"}}).json())
    assert off.memory_context.mode.value == "off"
    assert Agent.model_validate(patch({"memory_context": {}}).json()).memory_context is None
    disabled = patch({"memory_enabled": False})
    assert disabled.status_code == 200
    if HAS_USERS:
        assert Agent.model_validate(disabled.json()).memory_enabled is False
    tool = server.raw("POST", server.agent(agent, "/tools/mobius.memory.recall/invoke"), json={"input": {}})
    assert tool.json()["status"] == "failed"
    assert client.get_agent_memory(agent).entry_count == 0, "administrators still see it"


def test_tools_do_what_the_client_sees(client, server, agent):
    invoke = lambda tool, body: server.raw(
        "POST", server.agent(agent, f"/tools/{tool}/invoke"), json={"input": body}
    ).json()
    made = invoke("mobius_memory_remember", {"key": "k", "content": "x"})
    assert made["status"] == "completed" and made["output"]["created"] is True
    assert [entry.key for entry in client.list_agent_memory_entries(agent).items] == ["k"]
    assert invoke("mobius.memory.recall", {"query": "x"})["output"]["items"][0]["key"] == "k"
    assert invoke("mobius.memory.forget", {"key": "k"})["output"] == {"key": "k", "deleted": True}
    reasons = [change.reason.value for change in client.list_agent_memory_changes(agent).items]
    assert reasons == ["remembered", "remembered"]


def test_a_wrong_key_is_a_revoked_one(server, agent):
    with pytest.raises(AuthRevokedError):
        server.client("wrong-key").get_agent_memory(agent)


def test_a_key_may_name_its_project(own_server, agent):
    inside = own_server.client(f"{own_server.key}.team-2")
    save(inside, agent, "k")
    assert inside.get_agent_memory(agent).entry_count == 1
    raw = own_server.raw("GET", f"/v1/projects/team-2/agents/{agent}/memory").json()
    assert raw["entry_count"] == 1
    assert own_server.client().get_agent_memory(agent).entry_count == 0
