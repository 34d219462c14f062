"""What the installed `anthropic` release can say, found by looking at it.

One suite runs under three releases. A test that needs a parameter or a module an older release
lacks carries `@pytest.mark.needs("…")` and is not collected there, so it never counts as passed.
"""

from __future__ import annotations

import importlib.util
import inspect

import anthropic

try:
    import httpx2 as http_library
except ModuleNotFoundError:
    import httpx as http_library

MANAGED_AGENTS = "managed-agents-2026-04-01"
AGENT_MEMORY = "agent-memory-2026-07-22"

_probe = anthropic.Anthropic(api_key="probe", base_url="http://127.0.0.1:9")


def _takes(method: object, parameter: str) -> bool:
    return parameter in inspect.signature(method).parameters


def _version() -> tuple[int, ...]:
    return tuple(int(part) for part in anthropic.__version__.split(".")[:3])


CAPABILITIES: dict[str, bool] = {
    "order_by": _takes(_probe.beta.memory_stores.memories.list, "order_by"),
    "workspace_id": _takes(_probe.beta.memory_stores.create, "workspace_id"),
    "service_account_filter": _takes(_probe.beta.memory_stores.memory_versions.list, "service_account_id"),
    "session_store_filter": _takes(_probe.beta.sessions.list, "memory_store_id"),
    "agent_overrides": importlib.util.find_spec(
        "anthropic.types.beta.beta_managed_agents_agent_with_overrides_params"
    ) is not None,
    "managed_agents": hasattr(_probe.beta, "agents") and hasattr(_probe.beta, "environments"),
    "session_budget": _takes(_probe.beta.sessions.create, "budget"),
    "session_status_filter": _takes(_probe.beta.sessions.list, "statuses"),
    "sync_engine": importlib.util.find_spec("anthropic.lib.tools._memories") is not None,
    "bearer_api_key": "Authorization" in _probe.auth_headers,
    "x_api_key": "X-Api-Key" in _probe.auth_headers,
    "beta_query": _version() < (2, 3, 0),
    # Not the SDK's, but installed beside the current release only: once is enough.
    "openapi_validator": importlib.util.find_spec("openapi_spec_validator") is not None,
    "error_type": "type" in getattr(anthropic.APIStatusError, "__annotations__", {}),
}

#: The beta value this release sends by itself, and the other one the endpoint also accepts.
OWN_BETA = MANAGED_AGENTS if CAPABILITIES["order_by"] else AGENT_MEMORY
OTHER_BETA = AGENT_MEMORY if OWN_BETA == MANAGED_AGENTS else MANAGED_AGENTS

# The class for 413 was renamed, and was not exported at the top at first.
if hasattr(anthropic, "RequestTooLargeError"):
    RequestTooLargeError = anthropic.RequestTooLargeError
else:
    from anthropic._exceptions import RequestTooLargeError  # noqa: F401


def has(*names: str) -> bool:
    unknown = [name for name in names if name not in CAPABILITIES]
    if unknown:
        raise ValueError(f"unknown capability {unknown}; known: {sorted(CAPABILITIES)}")
    return all(CAPABILITIES[name] for name in names)
