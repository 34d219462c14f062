"""Fixtures: the server under test, the release's client on it, and an agent that no other test has.

The server is named by LOCI_BASE_URL and LOCI_API_KEY (an admin key), the binary by LOCI_BIN.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from deepnoodle.mobius import Client

from support import HAS_USERS, RELEASE, OwnServer, Server, new_agent


def pytest_configure(config: pytest.Config) -> None:
    needed = ("LOCI_BASE_URL", "LOCI_API_KEY", "LOCI_BIN")
    missing = [name for name in needed if not os.environ.get(name)]
    if missing:
        raise pytest.UsageError(f"{' and '.join(missing)} must be set; see tests/sdk/README.md")


def pytest_report_header() -> list[str]:
    return [f"deepnoodle-mobius {RELEASE}"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    dropped = [item for item in items if item.get_closest_marker("users") and not HAS_USERS]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if item not in dropped]


@pytest.fixture(scope="session")
def server() -> Server:
    return Server(os.environ["LOCI_BASE_URL"].rstrip("/"), os.environ["LOCI_API_KEY"])


@pytest.fixture(scope="session")
def client(server: Server) -> Client:
    """As released, with its retries."""
    return server.client()


@pytest.fixture
def agent() -> str:
    return new_agent()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[OwnServer]:
    server = OwnServer(tmp_path / "data")
    yield server
    server.kill()
