"""Keys are free text. Each comes back as it was, none reaches another, and a prefix is only a prefix.

The Python client puts a key into the URL as it stands, so what URLs cannot hold is escaped here,
as its user would have to; what the server then lists is the key itself.
"""

from __future__ import annotations

import unicodedata
from urllib.parse import quote, unquote

import pytest

from support import MEMORY, failed, settled, word

KEYS = [
    "a",
    "a/b",
    "a/b/c.md",
    "two words",
    "ключ ☃ 🦀 日本",
    "..%2F..%2Fetc%2Fpasswd",
    "%2E%2E",
    "%2E",
    "a%2F..%2Fb",
    "...",
    ".hidden",
    "%3Acolon",
    ":owner",
    "50%25",
    "%2541",
    "100%",
    "a+b",
    "a;b=c&d,e",
    "quote\"'<>",
    "back\\slash",
    "a//b",
    "/lead",
    "trail/",
    "%20 padded %20",
    "tab%09line%0Aend",
    "zero%E2%80%8Bwidth",
    "question%3Fmark%23hash",
    "search",
    "UPPER",
    "upper",
    unicodedata.normalize("NFC", "é"),
    unicodedata.normalize("NFD", "é"),
    "k" * 200,
    "ж" * 200,
    "🦀" * 200,
]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: ascii(key)[:30])
def test_a_key_is_written_read_listed_and_deleted(ada, key):
    memory = ada.memory()
    assert memory("set", key=key, value=key) == "OK"
    answer = memory("get", key=key)
    assert (answer["value"], answer["key"]) == (key, unquote(key))
    assert memory.keys() == [unquote(key)]
    assert memory.keys(prefix=unquote(key)) == [unquote(key)]
    assert memory.get_internal(ada.id, key)["value"] == key
    assert memory("delete", key=key) == "OK"
    assert memory("get", key=key) is None
    assert memory.keys() == []


def test_all_of_them_live_side_by_side(ada):
    memory = ada.memory()
    for number, key in enumerate(KEYS):
        assert memory("set", key=key, value=number) == "OK"
    assert memory.keys() == sorted(unquote(key) for key in KEYS)
    for number, key in enumerate(KEYS):
        assert memory.value(key) == number


def test_a_slash_raw_or_escaped_is_one_key(loci, ada):
    query = {"agentId": ada.id, "store": ada.id}
    body = {**query, "value": "raw"}
    assert loci.call("PUT", f"{MEMORY}/a/b%20c", ada.key, json=body).status_code == 200
    escaped = loci.call("GET", f"{MEMORY}/a%2Fb%20c", ada.key, params=query)
    assert (escaped.status_code, escaped.json()["key"], escaped.json()["value"]) == (200, "a/b c", "raw")
    assert loci.call("PUT", f"{MEMORY}/a%2fb%20c", ada.key, json={**body, "value": "escaped"}).status_code == 200
    assert loci.call("GET", f"{MEMORY}/a/b%20c", ada.key, params=query).json()["value"] == "escaped"
    assert ada.memory().keys() == ["a/b c"]
    assert loci.call("DELETE", f"{MEMORY}/a%2Fb%20c", ada.key, params=query).status_code == 200
    assert ada.memory().keys() == []


def test_dots_never_leave_the_store(loci, ada):
    """The client's URL library folds raw dots before it sends; nothing then answers with another's data."""
    memory = ada.memory()
    memory("set", key="b", value="b")
    assert memory("get", key="..") is None
    assert memory("set", key="..", value="up") in (failed("set", 404), failed("set", 405))
    # `a/../b` has become `b` on the way.
    assert memory.value("a/../b") == "b"
    assert memory.keys() == ["b"]


def test_a_prefix_is_taken_literally(ada):
    memory = ada.memory()
    for key in ("50%", "50 percent", "a_b", "axb", "a%b", "A_b", "[a]", "\\x", "b"):
        assert memory("set", key=quote(key, safe=""), value=1) == "OK"
    for prefix, found in {
        "50%": ["50%"],
        "50": ["50 percent", "50%"],
        "a_": ["a_b"],
        "a%": ["a%b"],
        "a": ["a%b", "a_b", "axb"],
        "_": [],
        "%": [],
        "[": ["[a]"],
        "\\": ["\\x"],
        "b": ["b"],
        "bb": [],
        "*": [],
    }.items():
        assert memory.keys(prefix=prefix) == sorted(found), prefix


def test_a_prefix_may_end_inside_a_path(ada):
    memory = ada.memory()
    for key in ("notes/2026/a", "notes/2026/b", "notes/2027", "notebook"):
        memory("set", key=key, value=1)
    assert memory.keys(prefix="notes/") == ["notes/2026/a", "notes/2026/b", "notes/2027"]
    assert memory.keys(prefix="notes/2026/") == ["notes/2026/a", "notes/2026/b"]
    assert memory.keys(prefix="note") == ["notebook", "notes/2026/a", "notes/2026/b", "notes/2027"]


def test_a_key_and_one_below_it_are_two(ada):
    memory, needle = ada.memory(), word()
    memory("set", key="plan", value=f"whole {needle}")
    memory("set", key="plan/monday", value=f"monday {needle}")
    assert (memory.value("plan"), memory.value("plan/monday")) == (f"whole {needle}", f"monday {needle}")
    settled(lambda: memory.hits(needle), {(ada.id, "plan"), (ada.id, "plan/monday")})
    assert memory("delete", key="plan") == "OK"
    assert memory.value("plan/monday") == f"monday {needle}"


def test_a_key_beyond_all_measure_is_refused(ada):
    memory = ada.memory()
    assert memory("set", key="k" * 5000, value=1) in (failed("set", 400), failed("set", 414))
    assert memory.keys() == []
