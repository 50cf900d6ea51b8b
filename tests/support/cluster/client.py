"""The smallest client that can try a cluster: one method for requests, one for watches."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

from tests.support.cluster.real_cluster import RealCluster

APPLY = "application/apply-patch+yaml"
Object = dict[str, Any]


class Client:
    """A user of the cluster."""

    def __init__(self, cluster: RealCluster, token: str) -> None:
        self.cluster = cluster
        self.token = token
        https = urllib.request.HTTPSHandler(context=cluster.tls())
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), https)

    def call(
        self, verb: str, path: str, body: Object | None = None, content: str = "application/json"
    ) -> Any:
        """The status code and the decoded answer of one request."""
        try:
            with self.opener.open(self._request(verb, path, body, content), timeout=30) as answer:
                return answer.status, decoded(answer)
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, decoded(refused)

    def apply(self, path: str, body: Object, manager: str, force: bool = False) -> Any:
        """Apply on the server as this manager."""
        return self.call("PATCH", f"{path}?fieldManager={manager}&force={str(force).lower()}", body, APPLY)

    def watch(self, path: str) -> Iterator[tuple[str, Object]]:
        """The type and the object of each event, until the server ends the watch."""
        with self.opener.open(self._request("GET", path, None, ""), timeout=30) as lines:
            for line in lines:
                event = json.loads(line)
                yield event["type"], event["object"]

    def _request(self, verb: str, path: str, body: Object | None, content: str) -> urllib.request.Request:
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        data = None
        if body is not None:
            headers["Content-Type"] = content
            data = json.dumps(body).encode()
        return urllib.request.Request(self.cluster.url + path, data, headers, method=verb)


def decoded(answer: Any) -> Any:
    """The body as data; a path that is not served yet has a plain-text body, which stays text."""
    body = answer.read()
    return json.loads(body) if "json" in answer.headers["Content-Type"] else body.decode()


def eventually(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    """The first true result, polled repeatedly, or the last false one."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return answer
