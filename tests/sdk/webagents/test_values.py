"""A value is any JSON and comes back as the same JSON: type, sign, precision and characters."""

from __future__ import annotations

import json

import pytest

from support import failed, settled, word

VALUES = [
    "text", "", " ", "ünï☃🦀", "line\nbreak\ttab\r", "quote \" back \\ slash /", "\u0000\u001f", "\u2028\ufeff",
    # Text that looks like something else stays text.
    "null", "true", "123", "1.0", "{}", "[1]", '"quoted"',
    True, False,
    0, 1, -1, 2**31, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, 2**80, -(10**40),
    0.0, -0.0, 1.0, 0.1, 0.1 + 0.2, 1e-7, 1e21, 1.7976931348623157e308, 5e-324, 123456789.12345678,
    2.2250738585072011e-308,
    [], {}, [None], {"nothing": None}, [[[[]]]], [1, "1", 1.0, True, None],
    {"a": {"b": [{"c": 2**70}, 0.30000000000000004]}, "ключ": "ü", "": "empty key", "a b": 1, "A": 2, "a.b": 3},
    {"__proto__": 1, "value": {"value": 1}, "$ref": "#", "agentId": "x", "store": "y"},
]  # fmt: skip


def same(one, other) -> bool:
    """As JSON, where 1, 1.0 and true differ and 0.0 is not -0.0."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: ascii(value)[:30])
def test_round_trip(ada, value):
    memory = ada.memory()
    assert memory("set", key="k", value=value) == "OK"
    assert same(memory.value("k"), value)
    (listed,) = memory("list")["entries"]
    assert same(listed["value"], value)
    assert same(memory.get_internal(ada.id, "k")["value"], value)


def test_null_is_refused_by_the_client_and_kept_when_it_comes_by_hand(loci, ada):
    memory = ada.memory()
    assert memory("set", key="k", value=None) == {"error": "value is required"}
    assert memory("get", key="k") is None
    assert loci.put(ada, "k", {"value": None}).status_code == 200
    answer = memory("get", key="k")
    assert "value" in answer and answer["value"] is None


def test_the_type_can_change(ada):
    memory = ada.memory()
    for value in ("text", {"a": 1}, "text again", 7, [True], "7"):
        assert memory("set", key="k", value=value) == "OK"
        assert same(memory.value("k"), value)


def test_words_inside_a_structure_are_found(ada):
    memory, needle = ada.memory(), word()
    value = {"people": [{"name": f"Ada {needle}", "age": 36}]}
    memory("set", key="nested", value=value)
    settled(lambda: memory.hits(needle), {(ada.id, "nested")})
    (entry,) = memory("search", query=needle)["entries"]
    assert entry["value"] == value


def test_large_values(ada):
    memory = ada.memory()
    large = "word " * 10_000
    assert memory("set", key="large", value=large) == "OK"
    assert memory.value("large") == large
    deep = current = []
    for _ in range(60):
        current.append([])
        current = current[0]
    assert memory("set", key="deep", value=deep) == "OK"
    assert memory.value("deep") == deep


def test_a_value_beyond_the_limit_is_refused_whole(ada):
    memory = ada.memory()
    memory("set", key="large", value="before")
    assert memory("set", key="large", value="x" * 200_000) == failed("set", 413)
    assert memory.value("large") == "before"


@pytest.mark.parametrize("body", [b"", b"not json", b"[]", b"7", b'{"value": 1', b'{"ttl": 1}', b'{"value": "\xff"}'])
def test_a_body_that_is_no_write_is_refused(loci, ada, body):
    answer = loci.call(
        "PUT", "/api/storage/memory/k", ada.key, content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 400, answer.text
    assert isinstance(answer.json()["error"], str)
    assert ada.memory().keys() == []
