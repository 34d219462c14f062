"""The OpenAPI document a running server gives out: valid, whole, and usable by generators."""

from __future__ import annotations

import re
from collections import Counter

import pytest

METHODS = {"get", "post", "put", "patch", "delete"}


@pytest.fixture(scope="module")
def document(server) -> dict:
    response = server.raw("GET", "/openapi.json", headers={})
    assert response.status_code == 200
    return response.json()


def operations(document: dict):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            assert method in METHODS
            yield method, path, operation


@pytest.mark.needs("openapi_validator")
def test_the_document_is_valid(document):
    from openapi_spec_validator import OpenAPIV31SpecValidator

    problems = [f"{list(problem.absolute_path)}: {problem.message}" for problem in
                OpenAPIV31SpecValidator(document).iter_errors()]  # fmt: skip
    assert problems == []


def test_operations_have_names_of_their_own(document):
    names = Counter(operation["operationId"] for _, _, operation in operations(document))
    assert [name for name, count in names.items() if count > 1] == []
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names), names


def test_operations_say_what_they_do_and_how_they_refuse(document):
    tags = {tag["name"] for tag in document["tags"]}
    for method, path, operation in operations(document):
        where = f"{method} {path}"
        assert operation.get("summary"), where
        assert "\n" not in operation["summary"], where
        assert set(operation["tags"]) <= tags, where
        assert "4XX" in operation["responses"], where
        refusal = operation["responses"]["4XX"]["content"]["application/json"]["schema"]
        # Where two doors share a path, either refuses in its own words.
        named = [one["$ref"].rpartition("/")[2] for one in refusal.get("anyOf", [refusal])]
        # Some doors refuse in the words of their own clients.
        if path.startswith("/api/v1/pd/"):
            told = {"success", "args"}
        elif path.startswith(("/api/", "/v1/agents", "/v1/projects")):
            told = {"error"}
        elif path.startswith(("/qiforge/", "/.well-known/did.json")):
            told = {"detail"}
        elif path == "/mcp":
            told = {"jsonrpc", "id", "error"}
        else:
            told = {"type", "error", "request_id"}
        for name in named:
            assert told <= set(document["components"]["schemas"][name]["properties"]), where


def test_parameters_of_paths_are_described(document):
    for method, path, operation in operations(document):
        named = {given["name"] for given in operation.get("parameters", []) if given["in"] == "path"}
        assert named == set(re.findall(r"{(\w+)}", path)), f"{method} {path}"


def test_references_lead_somewhere(document):
    for name in re.findall(r"#/components/schemas/([^'\"]+)", repr(document)):
        assert name in document["components"]["schemas"], name
