"""Requests with a wrong path or method, and the server's error messages."""

from __future__ import annotations

from tests.support.api.client import JSON, MERGE_PATCH, Answer
from tests.support.api.collection import Collection

NO_RESOURCE = (404, "NotFound", "the server could not find the requested resource")
NO_METHOD = (405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


def answer_to(collection: Collection, method: str, path: str) -> Answer:
    """Send a request with an empty body, where its method has one."""
    content = MERGE_PATCH if method == "PATCH" else JSON
    body: dict[str, object] | None = {} if method in ("POST", "PUT", "PATCH") else None
    return collection.client.request(method, path, body, content=content)
