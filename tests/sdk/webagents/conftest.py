"""Fixtures: the server under test, and agents, chats and users that each test makes for itself.

The server is named by LOCI_BASE_URL and LOCI_API_KEY (an admin key). The skills read the first from
ROBUTLER_API_URL, as they would in an agent.
"""

from __future__ import annotations

import importlib.metadata
import os
import tempfile
from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite("support")


def pytest_configure(config: pytest.Config) -> None:
    missing = [name for name in ("LOCI_BASE_URL", "LOCI_API_KEY") if not os.environ.get(name)]
    if missing:
        raise pytest.UsageError(
            f"{' and '.join(missing)} must be set: start `loci serve` and export its address and an admin key"
        )
    os.environ["ROBUTLER_API_URL"] = os.environ["LOCI_BASE_URL"].rstrip("/")
    for name in ("ROBUTLER_INTERNAL_API_URL", "WEBAGENTS_AGENT_TOKEN", "WEBAGENTS_API_KEY"):
        os.environ.pop(name, None)
    # The skills make a client for every call and each would read all the world's root certificates;
    # nothing here speaks TLS.
    os.environ["SSL_CERT_DIR"] = tempfile.mkdtemp(prefix="no-certificates-")
    os.environ.pop("SSL_CERT_FILE", None)


def pytest_unconfigure(config: pytest.Config) -> None:
    made = os.environ.get("SSL_CERT_DIR", "")
    if "no-certificates-" in made:
        os.rmdir(made)


def pytest_report_header() -> list[str]:
    return [f"webagents {importlib.metadata.version('webagents')}"]


@pytest.fixture(scope="session")
def loci() -> Iterator:
    from support import Loci

    with Loci(os.environ["LOCI_BASE_URL"].rstrip("/"), os.environ["LOCI_API_KEY"]) as server:
        yield server


@pytest.fixture
def ada(loci):
    """An agent with a key of its own."""
    return loci.agent()


@pytest.fixture
def bob(loci):
    """Another agent."""
    return loci.agent()


@pytest.fixture
def eve(loci):
    """An agent that nobody gave anything."""
    return loci.agent()
