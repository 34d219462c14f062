"""Fixtures: clients on the server under test, and stores that each test owns.

The server is named by LOCI_BASE_URL and LOCI_API_KEY (an admin key). Nothing is shared between
tests except the clients, so the suite may run in any order and beside itself.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator

import anthropic
import pytest

import capabilities
from support import Server


def pytest_configure(config: pytest.Config) -> None:
    missing = [name for name in ("LOCI_BASE_URL", "LOCI_API_KEY") if not os.environ.get(name)]
    if missing:
        raise pytest.UsageError(
            f"{' and '.join(missing)} must be set: start `loci serve` and export its address and an admin key"
        )


def pytest_report_header() -> list[str]:
    able = sorted(name for name, held in capabilities.CAPABILITIES.items() if held)
    return [f"anthropic {anthropic.__version__}: {', '.join(able)}"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    kept, dropped = [], []
    for item in items:
        needed = [name for mark in item.iter_markers("needs") for name in mark.args]
        (kept if capabilities.has(*needed) else dropped).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


@pytest.fixture(scope="session")
def server() -> Server:
    return Server(os.environ["LOCI_BASE_URL"].rstrip("/"), os.environ["LOCI_API_KEY"])


@pytest.fixture(scope="session")
def client(server: Server) -> Iterator[anthropic.Anthropic]:
    """Strict parsing, no retries: a wrong shape or a 5xx fails the test that met it."""
    with server.client() as admin:
        yield admin


@pytest.fixture
def make_store(client: anthropic.Anthropic) -> Iterator[Callable]:
    made: list[str] = []

    def make(name: str | None = None, **fields: object):
        store = client.beta.memory_stores.create(name=name or f"store {uuid.uuid4().hex[:12]}", **fields)
        made.append(store.id)
        return store

    yield make
    for store_id in made:
        try:
            client.beta.memory_stores.delete(store_id)
        except anthropic.NotFoundError:
            pass


@pytest.fixture
def store(make_store: Callable):
    return make_store()


@pytest.fixture
def make_session(client: anthropic.Anthropic) -> Iterator[Callable]:
    made: list[str] = []

    def make(*resources: dict, **fields: object):
        fields.setdefault("agent", "agent_01SuiteAgent")
        fields.setdefault("environment_id", "env_01SuiteEnvironment")
        session = client.beta.sessions.create(resources=list(resources), **fields)
        made.append(session.id)
        return session

    yield make
    for session_id in made:
        try:
            client.beta.sessions.delete(session_id)
        except anthropic.NotFoundError:
            pass
