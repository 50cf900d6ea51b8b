"""The API server in this process: patches, queries and definitions over HTTPS.

A request may be refused with any status. An internal error that the server writes to its log is a crash.
"""

from __future__ import annotations

import asyncio
import functools
import http.client
import json
import logging
import random
import ssl
import tempfile
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

from fuzzing.inputs import as_bytes, as_text, mutated, mutated_value, text, value
from fuzzing.language_targets import expression, make_selectors

_DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "x", "labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["e.org/f"]},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "i",
                        "ports": [{"containerPort": 80}],
                        "env": [{"name": "A", "value": "b"}],
                        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
                    }
                ],
                "tolerations": [{"key": "k", "operator": "Exists"}],
            },
        },
    },
}
_CUSTOM = {
    "apiVersion": "example.org/v1",
    "kind": "Thing",
    "metadata": {"name": "x", "labels": {"a": "b"}},
    "spec": {
        "count": 3,
        "list": ["a", "b"],
        "keyed": [{"name": "a", "x": 1}],
        "map": {"a": "b"},
        "any": {"y": [1]},
    },
    "status": {"ready": True},
}
_CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "b"}}
_SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "count": {"type": "integer", "minimum": 0},
                "list": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                "keyed": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}, "x": {"type": "integer", "default": 1}},
                    },
                },
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
                "any": {"x-kubernetes-preserve-unknown-fields": True},
                "either": {"x-kubernetes-int-or-string": True},
            },
        },
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
_DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.org"},
    "spec": {
        "group": "example.org",
        "names": {"kind": "Thing", "listKind": "ThingList", "plural": "things", "singular": "thing"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": _SCHEMA},
                "subresources": {"status": {}, "scale": {
                    "specReplicasPath": ".spec.count", "statusReplicasPath": ".status.count"}},
                "selectableFields": [{"jsonPath": ".spec.count"}],
                "additionalPrinterColumns": [{"name": "C", "type": "integer", "jsonPath": ".spec.count"}],
            }
        ],
    },
}  # fmt: skip
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
_THINGS = "/apis/example.org/v1/namespaces/default/things"
_CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
_COLLECTIONS = {_DEPLOYMENTS: _DEPLOYMENT, _THINGS: _CUSTOM, _CONFIG_MAPS: _CONFIG_MAP}
_PATCHES = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)
_POINTERS = (
    "/metadata/labels/a", "/spec/list/0", "/spec/list/-", "/spec", "", "/", "/spec/keyed/0/x",
    "/metadata/name", "/a~1b", "/spec/template/spec/containers/0", "/metadata/finalizers", "/spec/any/y/-1",
    "/spec/any/y/01", "/metadata", "/~2",
)  # fmt: skip


class ServerFailed(Exception):
    """The server had an internal error."""


class _Errors(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if "internal error" in message or record.exc_info:
            self.messages.append(message)


class _Server:
    """A server in a thread of its own, until the process ends."""

    def __init__(self) -> None:
        from crossply.apiserver.assembly import RunningServer, Settings
        from crossply.apiserver.http import rate_limited_log as complaints

        complaints._QUIET_SECONDS = 0.0  # each error counts, also the same one again
        self._errors = _Errors()
        for name in ("crossply.apiserver", "asyncio"):
            logging.getLogger(name).addHandler(self._errors)
        logging.getLogger("crossply.apiserver").propagate = False
        self._directory = tempfile.TemporaryDirectory(prefix="fuzz-server-")
        self._running = RunningServer(Settings(self._directory.name, in_memory=True))
        started = threading.Event()

        async def serve() -> None:
            await self._running.start()
            started.set()
            await asyncio.Event().wait()

        threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
        if not started.wait(60):
            raise ServerFailed("the server does not start")
        self._connection: http.client.HTTPSConnection | None = None
        self.prepare()

    def prepare(self) -> None:
        """Make the objects that requests are about, unless they are there."""
        self.request("POST", _DEFINITIONS, "application/json", json.dumps(_DEFINITION).encode())
        for collection, obj in _COLLECTIONS.items():
            self.request("POST", collection, "application/json", json.dumps(obj).encode())

    def request(self, method: str, path: str, media_type: str, body: bytes) -> int:
        """The status of the answer. Raises ServerFailed."""
        self._errors.messages.clear()
        connection = self._connected()
        headers = {"Authorization": f"Bearer {self._running.token}", "Content-Type": media_type}
        try:
            connection.request(method, path, body or None, headers)
            response = connection.getresponse()
            response.read()
        except (http.client.HTTPException, OSError):
            self._connection = None
            raise
        if self._errors.messages:
            raise ServerFailed("; ".join(self._errors.messages))
        return response.status

    def _connected(self) -> http.client.HTTPSConnection:
        if self._connection is None:
            place = urlsplit(self._running.url)
            context = ssl.create_default_context(cafile=f"{self._directory.name}/pki/ca.crt")
            assert place.hostname
            self._connection = http.client.HTTPSConnection(
                place.hostname, place.port, timeout=60, context=context
            )
        return self._connection


@functools.cache
def _server() -> _Server:
    return _Server()


def make_patch(rng: random.Random) -> Any:
    collection, obj = rng.choice(list(_COLLECTIONS.items()))
    kind = rng.choice(_PATCHES)
    patch = _json_patch(rng) if "json-patch" in kind else _partial(rng, mutated_value(rng, obj))
    body = json.dumps(patch).encode()
    if rng.random() < 0.15:
        body = mutated(rng, body)
    query = "fieldManager=f" + rng.choice(("", "&force=true", "&fieldValidation=Strict", "&dryRun=All"))
    path = f"{collection}/x{rng.choice(('', '', '', '/status', '/scale'))}?{query}"
    return {"method": "PATCH", "path": path, "type": kind, "body": as_text(body)}


def _json_patch(rng: random.Random) -> Any:
    operations = []
    for _ in range(rng.randrange(1, 5)):
        operation = {
            "op": rng.choice(("add", "remove", "replace", "move", "copy", "test")),
            "path": rng.choice(_POINTERS),
            "from": rng.choice(_POINTERS),
            "value": value(rng, 2),
        }
        operations.append(mutated_value(rng, operation))
    return operations


def _partial(rng: random.Random, obj: Any) -> Any:
    """A part of an object, with directives of strategic merge patches here and there."""
    if isinstance(obj, dict):
        members = {key: _partial(rng, member) for key, member in obj.items() if rng.random() < 0.7}
        if rng.random() < 0.1:
            members["$patch"] = rng.choice(("replace", "delete", "merge", text(rng), None))
        if rng.random() < 0.05:
            members["$retainKeys"] = rng.choice((["a"], value(rng, 1)))
        if rng.random() < 0.1 and obj:
            key = rng.choice(list(obj))
            members[rng.choice(("$setElementOrder/", "$deleteFromPrimitiveList/")) + str(key)] = value(rng, 2)
        return members
    if isinstance(obj, list):
        return [_partial(rng, item) for item in obj]
    return None if rng.random() < 0.05 else obj


def make_query(rng: random.Random) -> Any:
    selectors = make_selectors(rng)
    options = {
        "labelSelector": selectors["labels"],
        "fieldSelector": rng.choice((selectors["fields"], "spec.count=3")),
        "limit": rng.choice(("1", "-1", "x", "9" * 30)),
        "continue": rng.choice(("x", "e30", text(rng))),
        "resourceVersion": rng.choice(("0", "1", "-5", "x", "9" * 25)),
        "resourceVersionMatch": rng.choice(("Exact", "NotOlderThan", text(rng))),
        "timeoutSeconds": "1",
        "includeObject": text(rng),
    }
    chosen = {key: options[key] for key in rng.sample(sorted(options), rng.randrange(1, 5))}
    query = "&".join(f"{key}={quote(member.encode('utf-8', 'replace'))}" for key, member in chosen.items())
    return {"method": "GET", "path": f"{rng.choice(list(_COLLECTIONS))}?{query}", "type": "", "body": ""}


def make_definition(rng: random.Random) -> Any:
    """A definition that is wrong somewhere, and has rules; as a dry run, so that nothing stays."""
    rules = [{"rule": expression(rng), "message": text(rng)}]
    definition = mutated_value(rng, _DEFINITION)
    if isinstance(definition, dict) and rng.random() < 0.7:
        schema = mutated_value(rng, {**_SCHEMA, "x-kubernetes-validations": rules})
        version = {**_DEFINITION["spec"]["versions"][0], "schema": {"openAPIV3Schema": schema}}  # type: ignore[index]
        definition["spec"] = {**_DEFINITION["spec"], "versions": [version]}  # type: ignore[dict-item]
    path = f"{_DEFINITIONS}/things.example.org?dryRun=All&fieldManager=f&force=true"
    return {
        "method": "PATCH",
        "path": path,
        "type": _PATCHES[3],
        "body": as_text(json.dumps(definition).encode()),
    }


def make_write(rng: random.Random) -> Any:
    collection, obj = rng.choice(list(_COLLECTIONS.items()))
    body = json.dumps(mutated_value(rng, obj)).encode()
    method, path = rng.choice((("PUT", f"{collection}/x"), ("POST", f"{collection}?dryRun=All")))
    kind = rng.choice(
        ("application/json", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
    )
    return {
        "method": method,
        "path": path,
        "type": kind,
        "body": as_text(mutated(rng, body) if rng.random() < 0.3 else body),
    }


def run_request(case_input: Any) -> None:
    server = _server()
    status = server.request(
        case_input["method"], case_input["path"], case_input["type"], as_bytes(case_input["body"])
    )
    if status in (404, 201):
        server.prepare()  # an earlier input may have deleted what this one is about


def targets() -> Iterator[tuple[str, Any, Any]]:
    """The name of each target, what makes its input, and what runs it."""
    yield "server-patch", make_patch, run_request
    yield "server-query", make_query, run_request
    yield "server-definition", make_definition, run_request
    yield "server-write", make_write, run_request
