"""The two older generations: `/api/kv` with its real client and by hand, `/api/storage/kv` by hand."""

from __future__ import annotations

import pytest

from support import key_value, run

KV = "/api/kv"
STORAGE_KV = "/api/storage/kv"


@pytest.fixture
def kv(ada):
    skill, close = key_value(ada.id, ada.key)
    yield skill
    close()


def test_set_and_get(kv):
    assert run(kv.kv_get("token")) is None
    assert run(kv.kv_set("token", "s3cret")) is True
    assert run(kv.kv_get("token")) == "s3cret"
    assert run(kv.kv_set("token", "changed")) is True
    assert run(kv.kv_get("token")) == "changed"


def test_the_tools(kv):
    assert run(kv.kv_read("token")) == ""
    assert run(kv.kv_store("token", "s3cret")) == "stored"
    assert run(kv.kv_read("token")) == "s3cret"


def test_namespaces_keep_keys_apart(kv):
    assert run(kv.kv_set("token", "plain")) is True
    assert run(kv.kv_set("token", "calendar's", "calendar")) is True
    assert run(kv.kv_set("token", "mail's", "mail")) is True
    assert run(kv.kv_get("token")) == "plain"
    assert run(kv.kv_get("token", "calendar")) == "calendar's"
    assert run(kv.kv_get("token", "mail")) == "mail's"
    assert run(kv.kv_get("token", "other")) is None


@pytest.mark.parametrize("key", ["a/b", "two words", "ключ", "..", "50%", "a?b#c", "x" * 200])
def test_keys(kv, key):
    assert run(kv.kv_set(key, key)) is True
    assert run(kv.kv_get(key)) == key


@pytest.mark.parametrize("value", ["", "ü☃", '{"json": "as text"}', "null", "123"])
def test_values_are_text(kv, value):
    assert run(kv.kv_set("k", value)) is True
    assert run(kv.kv_get("k")) == value


def test_another_agent_is_refused(kv, ada, eve):
    run(kv.kv_set("token", "s3cret"))
    spoof, close = key_value(ada.id, eve.key)
    assert run(spoof.kv_get("token")) is None
    assert run(spoof.kv_set("token", "forged")) is False
    assert run(spoof.kv_store("token", "forged")) == "failed"
    close()
    wrong, close = key_value(ada.id, "no-such-key")
    assert run(wrong.kv_get("token")) is None
    assert run(wrong.kv_set("token", "forged")) is False
    close()
    assert run(kv.kv_get("token")) == "s3cret"


def test_a_platform_key_names_the_agent(loci, kv, ada):
    platform, close = key_value(ada.id, loci.service_key()["secret"])
    assert run(platform.kv_set("token", "through the platform")) is True
    close()
    assert run(kv.kv_get("token")) == "through the platform"


def test_the_first_client(loci, ada, eve):
    """As the `robutler` 0.2.0 skill asks: `agentId`, a namespace that is null, one header."""

    def ask(method, key=ada.key, **fields):
        where = {"agentId": ada.id, "key": "token", **fields}
        sent = {"json": where} if method == "POST" else {"params": where}
        return loci.call(method, KV, key, bearer=False, **sent)

    def value(**fields):
        """What the client makes of the answer."""
        answer = ask("GET", **fields)
        return (answer.json().get("value") or "") if answer.status_code < 400 else ""

    assert value() == ""
    assert ask("POST", value="s3cret", namespace=None).status_code == 200
    assert value() == "s3cret"
    assert ask("POST", value="mail's", namespace="mail").status_code == 200
    assert (value(), value(namespace="mail")) == ("s3cret", "mail's")
    assert ask("GET", key=eve.key).status_code == 403
    assert ask("POST", key=eve.key, value="forged", namespace=None).status_code == 403
    assert ask("DELETE", key=eve.key).status_code == 403
    assert ask("DELETE").status_code == 200
    assert (value(), value(namespace="mail")) == ("", "mail's")
    assert ask("DELETE", namespace="mail").status_code == 200
    assert value(namespace="mail") == ""
    assert ask("GET", key="no-such-key").status_code == 401


def test_both_clients_of_the_first_generation_see_the_same(loci, kv, ada):
    run(kv.kv_set("token", "s3cret"))
    old = loci.call("GET", KV, ada.key, params={"agentId": ada.id, "key": "token"})
    assert old.json()["value"] == "s3cret"


def test_the_second_generation(loci, ada, eve):
    query = {"agentId": ada.id}

    def put(key, value, **fields):
        return loci.call("PUT", f"{STORAGE_KV}/{key}", ada.key, json={"value": value, "ttl": 0, **query, **fields})

    def get(key, by=ada.key):
        return loci.call("GET", f"{STORAGE_KV}/{key}", by, params=query)

    assert get("plan").status_code == 404
    assert put("plan", {"day": 1}).status_code == 200
    assert put("a%2Fb", "slash", ttl=None).status_code == 200
    assert (get("plan").status_code, get("plan").json()["value"]) == (200, {"day": 1})
    assert get("a/b").json()["value"] == "slash"
    assert get("plan", eve.key).status_code == 403
    listed = loci.call("GET", STORAGE_KV, ada.key, params={**query, "prefix": "pl"})
    assert listed.status_code == 200
    assert "plan" in listed.text and "a/b" not in listed.text
    assert loci.call("DELETE", f"{STORAGE_KV}/plan", ada.key, params=query).status_code == 200
    assert get("plan").status_code == 404


def test_an_end_in_the_second_generation(loci, ada):
    body = {"value": "soon gone", "ttl": 3600, "agentId": ada.id}
    assert loci.call("PUT", f"{STORAGE_KV}/note", ada.key, json=body).status_code == 200
    answer = loci.call("GET", f"{STORAGE_KV}/note", ada.key, params={"agentId": ada.id}).json()
    assert answer["value"] == "soon gone"
