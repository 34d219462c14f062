"""What the TypeScript client of store memory sends, replayed by hand: it is not on npm.

Each request is written as that client writes it: the Bearer header, `Content-Type` on every request,
the key escaped whole, an agent it does not know as `undefined`. Only status and body decide.
"""

from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest

from support import MEMORY, new_id, settled, word

JSON = {"content-type": "application/json"}
SUCCESS = {"success": True}


class Wire:
    """The client's requests, one method for each of its commands."""

    def __init__(self, loci, key, agent_id="undefined", chat=None, user=None):
        self._loci, self._key, self._agent = loci, key, agent_id
        self._hints = {name: value for name, value in (("chatId", chat), ("userId", user)) if value}

    def _send(self, method, path, query=None, body=None):
        url = MEMORY + path + (f"?{urlencode(query)}" if query else "")
        request = {"json": body} if body is not None else {"headers": JSON}
        return self._loci.call(method, url, self._key, **request)

    def _body(self, fields):
        # An undefined property is left out of JSON, though a query says `undefined`.
        known = {} if self._agent == "undefined" else {"agentId": self._agent}
        return {**fields, **known, **self._hints}

    def view(self, store, key):
        return self._send("GET", f"/{quote(key, safe='')}", {"agentId": self._agent, "store": store, **self._hints})

    def view_all(self, store):
        return self._send("GET", "", {"agentId": self._agent, "store": store, "inContext": "true", **self._hints})

    def create(self, store, key, value):
        body = self._body({"value": value, "ttl": 0}) | {"store": store}
        return self._send("PUT", f"/{quote(key, safe='')}", body=body)

    def edit(self, store, key, value):
        body = self._body({"value": value}) | {"store": store}
        return self._send("PUT", f"/{quote(key, safe='')}", body=body)

    def delete(self, store, key):
        return self._send("DELETE", f"/{quote(key, safe='')}", {"agentId": self._agent, "store": store, **self._hints})

    def search(self, query):
        return self._send("GET", "", {"action": "search", "agentId": self._agent, "q": query, **self._hints})

    def stores(self):
        return self._send("GET", "", {"action": "stores", "agentId": self._agent, **self._hints})

    def share(self, store, grantee, level="read"):
        body = self._body({"grantee": grantee, "level": level}) | {"store": store}
        return self._send("POST", "", {"action": "share"}, body)

    def unshare(self, store, grantee):
        return self._send("DELETE", "", {"action": "share", "store": store, "grantee": grantee, **self._hints})

    def get_internal(self, store, key, namespace=None):
        spaced = {"namespace": namespace} if namespace else {}
        return self._send("GET", f"/{quote(key, safe='')}", {"agentId": self._agent, "store": store, **spaced})

    def set_internal(self, store, key, value, namespace="", encrypted=False, ttl=0):
        body = self._body({"value": value, "store": store, "namespace": namespace})
        body |= {"inContext": False, "encrypted": encrypted, "ttl": ttl}
        return self._send("PUT", f"/{quote(key, safe='')}", body=body)


@pytest.fixture
def wire(loci, ada):
    return Wire(loci, ada.key, ada.id)


def ok(answer):
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/json")
    return answer.json()


def refused(answer, status):
    assert answer.status_code == status, answer.text
    assert isinstance(answer.json()["error"], str) and answer.json()["error"]


def test_create_view_edit_delete(ada, wire):
    refused(wire.view(ada.id, "plan"), 404)
    assert ok(wire.create(ada.id, "plan", "one")) == SUCCESS
    read = ok(wire.view(ada.id, "plan"))
    assert (read["key"], read["value"], read["storeId"], read["ownerId"]) == ("plan", "one", ada.id, ada.id)
    assert ok(wire.edit(ada.id, "plan", "two")) == SUCCESS
    assert ok(wire.view(ada.id, "plan"))["value"] == "two"
    assert [entry["key"] for entry in ok(wire.view_all(ada.id))["entries"]] == ["plan"]
    assert ok(wire.delete(ada.id, "plan")) == SUCCESS
    refused(wire.view(ada.id, "plan"), 404)
    assert ok(wire.view_all(ada.id)) == {"entries": []}
    refused(wire.delete(ada.id, "plan"), 404)


def test_create_overwrites_and_clears_the_end_edit_keeps_it(loci, ada, wire):
    assert loci.put(ada, "plan", {"value": "one", "ttl": 3600}).status_code == 200
    ends = ok(wire.view(ada.id, "plan"))["expiresAt"]
    assert ends is not None
    ok(wire.edit(ada.id, "plan", "two"))
    edited = ok(wire.view(ada.id, "plan"))
    assert (edited["value"], edited["expiresAt"]) == ("two", ends)
    ok(wire.create(ada.id, "plan", "three"))
    assert ok(wire.view(ada.id, "plan"))["expiresAt"] is None


def test_an_edit_neither_shows_nor_opens_what_is_hidden_and_sealed(ada, wire):
    ok(wire.set_internal(ada.id, "token", "cipher", encrypted=True, ttl=3600))
    ok(wire.edit(ada.id, "token", "other cipher"))
    read = ok(wire.view(ada.id, "token"))
    assert (read["value"], read["inContext"], read["encrypted"]) == ("other cipher", False, True)
    assert read["expiresAt"] is not None
    assert ok(wire.view_all(ada.id)) == {"entries": []}


def test_rename_is_three_requests(ada, wire):
    ok(wire.create(ada.id, "old", {"typed": 1}))
    value = ok(wire.view(ada.id, "old"))["value"]
    ok(wire.edit(ada.id, "new", value))
    ok(wire.delete(ada.id, "old"))
    assert ok(wire.view(ada.id, "new"))["value"] == {"typed": 1}
    refused(wire.view(ada.id, "old"), 404)


@pytest.mark.parametrize(
    "key", ["a", "a/b", "two words", "ü☃🦀", "...", ".md", "100%", "a?b#c", "a&b=c+d", "'\"<>", "x" * 200]
)
def test_keys_are_escaped_whole(ada, wire, key):
    """All but dots alone, which every URL library folds away, escaped or not."""
    ok(wire.create(ada.id, key, key))
    read = ok(wire.view(ada.id, key))
    assert (read["key"], read["value"]) == (key, key)
    assert [entry["key"] for entry in ok(wire.view_all(ada.id))["entries"]] == [key]
    ok(wire.delete(ada.id, key))
    refused(wire.view(ada.id, key), 404)


def test_an_agent_that_the_client_does_not_know(loci, ada):
    """Without an agent id it says `agentId=undefined` and `store=default`."""
    wire = Wire(loci, ada.key)
    ok(wire.create("default", "plan", "one"))
    assert ok(wire.view("default", "plan"))["storeId"] == ada.id
    assert ada.memory().value("plan") == "one"
    assert [entry["key"] for entry in ok(wire.view_all("default"))["entries"]] == ["plan"]
    assert ok(wire.stores())["stores"] == [{"storeId": ada.id, "level": "readwrite", "source": "self"}]
    ok(wire.edit("default", "plan", "two"))
    ok(wire.delete("default", "plan"))
    assert ada.memory().keys() == []


@pytest.mark.parametrize("claim", [{}, {"agentId": ""}, {"agentId": "undefined"}, {"agentId": "null"}])
@pytest.mark.parametrize("store", [{}, {"store": ""}, {"store": "default"}, {"store": "self"}])
def test_a_request_that_names_nobody_is_the_keys_agents(loci, ada, claim, store):
    if claim == {"agentId": "null"}:
        # A text like any other: an agent of that name, which this is not.
        refused(loci.call("GET", f"{MEMORY}/plan", ada.key, params={**claim, **store}), 403)
        return
    assert loci.call("PUT", f"{MEMORY}/plan", ada.key, json={"value": 1, **claim, **store}).status_code == 200
    read = loci.call("GET", f"{MEMORY}/plan", ada.key, params={**claim, **store})
    assert (read.status_code, read.json()["storeId"]) == (200, ada.id)
    assert loci.call("DELETE", f"{MEMORY}/plan", ada.key, params={**claim, **store}).status_code == 200


def test_the_trailing_slash_of_an_edit_without_a_key(loci, ada, wire):
    ok(wire.create(ada.id, "plan", "one"))
    query = {"agentId": ada.id, "store": ada.id}
    with_slash = loci.call("GET", f"{MEMORY}/", ada.key, params=query, headers=JSON)
    assert with_slash.status_code == 200
    assert [entry["key"] for entry in with_slash.json()["entries"]] == ["plan"]
    # A write there has no key to write to.
    refused(loci.call("PUT", f"{MEMORY}/", ada.key, json={**query, "value": 1}), 400)
    assert ada.memory().keys() == ["plan"]


def test_a_content_type_without_content(loci, ada):
    """`Content-Type: application/json` and an empty body, on GET and DELETE."""
    ada.memory()("set", key="plan", value=1)
    headers = {**JSON, "content-length": "0"}
    query = {"agentId": ada.id, "store": ada.id}
    assert loci.call("GET", f"{MEMORY}/plan", ada.key, params=query, headers=headers).status_code == 200
    assert loci.call("DELETE", f"{MEMORY}/plan", ada.key, params=query, headers=headers).status_code == 200


def test_list_with_and_without_in_context(loci, ada, wire):
    ok(wire.create(ada.id, "shown", 1))
    ok(wire.set_internal(ada.id, "hidden", 2))
    query = {"agentId": ada.id, "store": ada.id}

    def keys(**more):
        answer = ok(loci.call("GET", MEMORY, ada.key, params={**query, **more}))
        return sorted(entry["key"] for entry in answer["entries"])

    assert keys(inContext="true") == ["shown"]
    assert keys() == ["hidden", "shown"]


def test_internal_entries_and_their_namespaces(ada, wire):
    ok(wire.set_internal(ada.id, "token", "plain"))
    ok(wire.set_internal(ada.id, "token", "billing's", namespace="billing"))
    assert ok(wire.get_internal(ada.id, "token"))["value"] == "plain"
    billing = ok(wire.get_internal(ada.id, "token", "billing"))
    assert (billing["value"], billing["namespace"], billing["inContext"]) == ("billing's", "billing", False)
    refused(wire.get_internal(ada.id, "token", "mail"), 404)
    assert ok(wire.view_all(ada.id)) == {"entries": []}


def test_share_and_unshare(loci, ada, bob, wire):
    guest = Wire(loci, bob.key, bob.id)
    ok(wire.create(ada.id, "plan", "one"))
    refused(guest.view(ada.id, "plan"), 403)
    refused(guest.view_all(ada.id), 403)
    refused(guest.create(ada.id, "plan", "mine"), 403)
    refused(guest.delete(ada.id, "plan"), 403)
    refused(guest.share(ada.id, bob.id), 403)
    refused(guest.unshare(ada.id, bob.id), 403)
    assert ok(wire.share(ada.id, bob.id)) == SUCCESS
    assert ok(guest.view(ada.id, "plan"))["value"] == "one"
    assert ok(guest.stores())["stores"] == [
        {"storeId": bob.id, "level": "readwrite", "source": "self"},
        {"storeId": ada.id, "level": "read", "source": "grant"},
    ]
    refused(guest.create(ada.id, "plan", "mine"), 403)
    # The client never says who unshares: the key does.
    assert ok(wire.unshare(ada.id, bob.id)) == SUCCESS
    refused(guest.view(ada.id, "plan"), 403)


def test_a_platform_key_unshares_without_naming_an_agent(loci, ada, bob):
    wire = Wire(loci, loci.service_key()["secret"], ada.id)
    ok(wire.create(ada.id, "plan", "one"))
    ok(wire.share(ada.id, bob.id))
    assert bob.memory().value("plan", store=ada.id) == "one"
    assert ok(wire.unshare(ada.id, bob.id)) == SUCCESS
    assert bob.memory()("get", store=ada.id, key="plan") == {"error": "Access denied"}


def test_search(loci, ada, bob, wire):
    needle = word()
    ok(wire.create(ada.id, "plan", f"about {needle}"))
    settled(lambda: [entry["key"] for entry in ok(wire.search(needle))["entries"]], ["plan"])
    (entry,) = ok(wire.search(needle))["entries"]
    assert (entry["storeId"], entry["key"], entry["value"]) == (ada.id, "plan", f"about {needle}")
    assert ok(Wire(loci, bob.key, bob.id).search(needle)) == {"entries": []}


def test_hints_are_no_credentials(loci, ada, eve):
    user = loci.user()
    chat = loci.chat(ada, user)
    member = Wire(loci, ada.key, ada.id, chat=chat, user=user)
    ok(member.create(chat, "topic", "boats"))
    ok(member.create(user, "diet", "vegan"))
    assert [each["source"] for each in ok(member.stores())["stores"]] == ["self", "chat", "user"]
    stranger = Wire(loci, eve.key, eve.id, chat=chat, user=user)
    refused(stranger.view(chat, "topic"), 403)
    refused(stranger.view(user, "diet"), 403)
    refused(stranger.create(user, "diet", "meat"), 403)
    assert [each["source"] for each in ok(stranger.stores())["stores"]] == ["self"]


def test_limits_have_their_own_status(ada, wire):
    refused(wire.create(ada.id, "large", "x" * 200_000), 413)
    refused(wire.create(ada.id, "k" * 5000, "x"), 400)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", ""),
        ("POST", "?action=nothing"),
        ("GET", "?action=nothing"),
        ("DELETE", ""),
        ("PUT", ""),
        ("GET", "?action=search"),
    ],
)
def test_a_request_that_is_none_of_these(loci, ada, method, path):
    answer = loci.call(method, f"{MEMORY}{path}", ada.key, **({"json": {}} if method in ("POST", "PUT") else {}))
    assert answer.status_code in (400, 405), answer.text
    assert isinstance(answer.json()["error"], str)


def test_no_answer_is_a_redirect(loci, ada):
    for path in ("", "/", "/plan", "/plan/", "//plan"):
        answer = loci.call("GET", MEMORY + path, ada.key, params={"agentId": ada.id, "store": new_id()})
        assert answer.status_code == 403, (path, answer.text)


def test_a_missing_credential(loci, ada):
    for key in (None, "wrong"):
        refused(loci.call("GET", MEMORY, key, params={"agentId": ada.id, "store": ada.id}), 401)
        refused(loci.call("PUT", f"{MEMORY}/plan", key, json={"value": 1, "agentId": ada.id}), 401)
