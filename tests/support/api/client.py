"""A client that hides nothing: one request, one response. It uses no product code."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.message import Message
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

Object = dict[str, Any]

JSON = "application/json"
YAML = "application/yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
SECONDS = 20
IDLE_SECONDS = 5.0
"""A connection idle for so long may be closed by the server just when it is used."""


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Message
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)

    @property
    def text(self) -> str:
        return self.raw.decode()

    @property
    def warnings(self) -> list[str]:
        """The texts of the Warning headers."""
        return [
            line.split('"', 1)[1][:-1].replace('\\"', '"') for line in self.headers.get_all("Warning", [])
        ]

    @property
    def message(self) -> str:
        return str(self.json.get("message", ""))

    @property
    def reason(self) -> str:
        return str(self.json.get("reason", ""))

    @property
    def causes(self) -> list[Object]:
        items: list[Object] = self.json.get("details", {}).get("causes", [])
        return items

    @property
    def names(self) -> list[str]:
        """The names of a list's items."""
        return [item["metadata"]["name"] for item in self.json["items"]]

    def ok(self, status: int | None = None) -> Any:
        """The decoded body of a success; anything else fails the test with the server's response."""
        good = self.status == status if status else self.status < 300
        assert good, f"{self.status}: {self.raw.decode(errors='replace')}"
        return self.json

    def refused(self, status: int, reason: str, message: str) -> Object:
        """The Status of a refusal, which must be this one."""
        body = self.json if self.raw[:1] == b"{" else {"text": self.text}
        assert (self.status, body.get("reason", ""), body.get("message")) == (status, reason, message), body
        assert body["kind"] == "Status"
        assert body["status"] == "Failure"
        assert body["code"] == status
        return dict(body)


class Client:
    """One user of one server."""

    def __init__(self, url: str, ca: str, token: str = "", headers: Mapping[str, str] | None = None) -> None:
        self._connection: http.client.HTTPSConnection | None = None
        self._used = 0.0
        self.url, self.ca, self.token = url, ca, token
        self.standing = dict(headers or {})
        self.tls = ssl.create_default_context(cafile=ca)

    def acting_as(self, user: str, *groups: str, **extra: str) -> Client:
        """The same user, impersonating another one."""
        headers = {"Impersonate-User": user, **{k.replace("_", "-"): v for k, v in extra.items()}}
        if groups:
            headers["Impersonate-Group"] = "\n".join(groups)
        return Client(self.url, self.ca, self.token, headers)

    def with_token(self, token: str) -> Client:
        """Another user of the same server."""
        return Client(self.url, self.ca, token)

    def with_certificate(self, certificate: str, key: str) -> Client:
        """Another user, with a client certificate."""
        other = Client(self.url, self.ca)
        other.tls.load_cert_chain(certificate, key)
        return other

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content: str = JSON,
        accept: str = JSON,
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> Answer:
        """Send one request and read the whole answer."""
        connection = self._open()
        try:
            self._send(connection, method, path, body, content, accept, headers, query)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        except BaseException:
            self.close()
            raise
        finally:
            # A fresh connection for each request costs a handshake, and never meets one that was closed.
            if self._connection is not None and self._connection.sock is None:
                self.close()

    def get(self, path: str, **options: Any) -> Answer:
        return self.request("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> Answer:
        return self.request("POST", path, body, **options)

    def put(self, path: str, body: Any = None, **options: Any) -> Answer:
        return self.request("PUT", path, body, **options)

    def patch(self, path: str, body: Any = None, content: str = MERGE_PATCH, **options: Any) -> Answer:
        return self.request("PATCH", path, body, content=content, **options)

    def delete(self, path: str, body: Any = None, **options: Any) -> Answer:
        return self.request("DELETE", path, body, **options)

    def watch(self, path: str, accept: str = JSON, seconds: float = SECONDS, **query: Any) -> Watch:
        """Begin a watch; nothing is read yet."""
        connection = self._connect(seconds)
        self._send(connection, "GET", path, None, JSON, accept, None, {"watch": "true", **query})
        return Watch(connection)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        self.close()

    def _open(self) -> http.client.HTTPSConnection:
        now = time.monotonic()
        if now - self._used > IDLE_SECONDS:
            self.close()
        if self._connection is None:
            self._connection = self._connect(SECONDS)
        self._used = now
        return self._connection

    def _connect(self, seconds: float) -> http.client.HTTPSConnection:
        at = urlsplit(self.url)
        return http.client.HTTPSConnection(at.hostname or "", at.port, timeout=seconds, context=self.tls)

    def _send(
        self,
        connection: http.client.HTTPSConnection,
        method: str,
        path: str,
        body: Any,
        content: str,
        accept: str,
        headers: Mapping[str, str] | None,
        query: Mapping[str, Any],
    ) -> None:
        address = quote(path, safe="/%:~?=&")
        if query:
            address += "?" + urlencode({key: _query_text(value) for key, value in query.items()})
        connection.putrequest(method, address)
        sent = {**self.standing, "Accept": accept, **(headers or {})}
        if self.token:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        data = b""
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()
            sent["Content-Type"] = content
        if body is not None or method in ("POST", "PUT", "PATCH"):
            sent["Content-Length"] = str(len(data))
        for name, value in sent.items():
            for line in value.split("\n"):
                connection.putheader(name, line)
        connection.endheaders(data or None)


class Watch:
    """A watch under way; every event is (type, object)."""

    def __init__(self, connection: http.client.HTTPSConnection) -> None:
        self._connection = connection
        self._response = connection.getresponse()
        self.status = self._response.status

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self._response.close()
        self._connection.close()

    def next(self) -> tuple[str, Object]:
        """The next event, which must come."""
        line = self._response.readline()
        assert line, "the watch ended"
        event = json.loads(line)
        return event["type"], event["object"]

    def take(self, count: int) -> list[tuple[str, Object]]:
        return [self.next() for _ in range(count)]

    def names(self, count: int) -> list[tuple[str, str]]:
        """The types of the next events and the names of their objects."""
        return [(kind, obj["metadata"].get("name", "")) for kind, obj in self.take(count)]

    def rest(self) -> Iterator[tuple[str, Object]]:
        """What comes until the server ends the watch."""
        while line := self._response.readline():
            event = json.loads(line)
            yield event["type"], event["object"]

    def refusal(self) -> Answer:
        """The answer, where the server refused to watch."""
        return Answer(self.status, self._response.headers, self._response.read())


def _query_text(value: Any) -> str:
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)
