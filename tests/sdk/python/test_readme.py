"""The README's example, run as it stands there: what a newcomer pastes first must work.

Only the address and the key are replaced. It runs in a process of its own, with the SDK's own defaults.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[3] / "README.md"


def example() -> str:
    found = re.search(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert found, "the README has no Python example"
    return found.group(1)


def replaced(code: str, name: str, value: str) -> str:
    code, count = re.subn(rf'\b{name}="[^"]*"', f"{name}={value!r}", code)
    assert count == 1, f"the example names {name} {count} times"
    return code


# The README speaks of the current release.
@pytest.mark.needs("bearer_api_key")
def test_the_example_of_the_readme_works(server, client):
    before = stores_of_the_example(client)
    try:
        run_and_check(server)
    finally:
        for store_id in stores_of_the_example(client) - before:
            client.beta.memory_stores.delete(store_id)


def stores_of_the_example(client) -> set[str]:
    return {store.id for store in client.beta.memory_stores.list() if store.name == "Project notes"}


def run_and_check(server) -> None:
    code = replaced(replaced(example(), "base_url", server.base_url), "api_key", server.api_key)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    refused, newest, oldest, directory = done.stdout.splitlines()
    assert refused == "memory_precondition_failed_error"
    assert newest.startswith("modified ") and oldest.startswith("created ")
    assert directory == "memory_prefix /decisions/"
