"""A proxy before the API server that records the changes of each write, and can refuse or interrupt it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

import aiohttp
import orjson
from aiohttp import web

from crossply.kube.config import ClusterConfig
from crossply.values import Object
from tests.support.api_proxy import HOP_HEADERS, ApiProxy
from tests.support.providers.effect_log import EffectLog, Faults
from tests.support.providers.object_changes import changes_between, plain

_PATH = re.compile(
    r"/(?:api/v1|apis/(?P<group>[^/]+)/[^/]+)(?:/namespaces/(?P<namespace>[^/]+))?"
    r"/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<subresource>[^/]+))?$"
)
_COLLECTION = re.compile(r"^(/apis/small\.example\.org/v1alpha1)(/(?!cluster|namespaces|relics)\w+)(?=\?|$)")


@dataclass
class Scenario:
    """The proxy's state of one scenario."""

    log: EffectLog
    kill: Callable[[], None]
    faults: Faults = field(default_factory=Faults)

    def refuse(self, text: str, *codes: int) -> None:
        """Answer the next writes that change what has a text in its name with errors."""
        self.faults.add(lambda change: text in change, *(str(code) for code in codes))

    def crash(self, text: str, when: str) -> None:
        """The provider ends `before` or `after` such a write took effect."""
        self.faults.add(lambda change: text in change, f"crash {when}")


class WriteProxy(ApiProxy):
    """Passes everything on; one for a provider process."""

    hidden_headers = frozenset(HOP_HEADERS | {"accept-encoding"})
    decompresses = True

    def __init__(self, config: ClusterConfig, only: str = "") -> None:
        """With `only`, the provider is shown the managed resources of one namespace."""
        super().__init__(config)
        self._only = only
        self.scenarios: dict[str, Scenario] = {}
        """By namespace."""

    async def pass_on(self, request: web.BaseRequest) -> web.StreamResponse:
        match = _PATH.match(request.path)
        scenario = self.scenarios.get(self._namespace(match)) if match else None
        if request.method == "GET" or match is None or scenario is None or match["plural"] == "leases":
            return await self._stream(request)
        return await self._write(request, match, scenario)

    def _namespace(self, match: re.Match[str]) -> str:
        """Cluster-scoped objects of a scenario are named like its namespace."""
        return match["namespace"] or match["name"] or ""

    async def _stream(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        async with await self._send(request, body) as answer:
            return await self.stream(request, answer, _passed(answer.headers))

    async def _write(
        self, request: web.BaseRequest, match: re.Match[str], scenario: Scenario
    ) -> web.StreamResponse:
        body = await request.read()
        before = await self._get(request.path.removesuffix("/status")) if match["name"] else {}
        if not scenario.faults.is_empty() and match["plural"] != "events":
            refusal = await self._interrupt(request, body, before, match, scenario)
            if refusal is not None:
                return refusal
        async with await self._send(request, body) as answer:
            data = await answer.read()
            if answer.status < 300:
                self._record(request, match, scenario, before, orjson.loads(data))
            return web.Response(body=data, status=answer.status, headers=_passed(answer.headers))

    async def _interrupt(
        self,
        request: web.BaseRequest,
        body: bytes,
        before: Object,
        match: re.Match[str],
        scenario: Scenario,
    ) -> web.Response | None:
        """The fault for this write: a dry run shows what it would change."""
        async with await self._send(request, body, "All") as answer:
            if answer.status >= 300:
                return None
            after = orjson.loads(await answer.read())
        changes = changes_between(before, after) if request.method != "DELETE" else {"deleted": True}
        if not changes:
            return None
        action = scenario.faults.next_action(f"{match['plural']} {' '.join(changes)}")
        if action.isdigit():
            self._log(match, scenario, before or after, {"refused": int(action), "changes": sorted(changes)})
            reason = {409: "Conflict"}.get(int(action), "InternalError")
            status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason}
            text = "the object has been modified" if action == "409" else "it does not work today"
            return web.json_response({**status, "code": int(action), "message": text}, status=int(action))
        if action == "crash after":
            async with await self._send(request, body) as answer:
                self._record(request, match, scenario, before, orjson.loads(await answer.read()))
        if action:
            self._log(match, scenario, before or after, {"crash": action.split()[1]})
            scenario.kill()
            await asyncio.sleep(3600)
        return None

    def _record(
        self,
        request: web.BaseRequest,
        match: re.Match[str],
        scenario: Scenario,
        before: Object,
        after: Object,
    ) -> None:
        if match["plural"] == "events":
            scenario.log.event(*_event(after))
            return
        if request.method == "DELETE":
            self._log(match, scenario, before, {"write": f"delete {match['plural']}"})
            return
        changes = changes_between(before, after)
        if not changes:
            return
        resource = "/".join(filter(None, (match["plural"], match["subresource"])))
        entry: Object = {"write": f"{'update' if before else 'create'} {resource}", "changes": changes}
        if "apply-patch" in request.headers.get("Content-Type", ""):
            entry["manager"] = request.query.get("fieldManager", "")
        self._log(match, scenario, after, entry)

    def _log(self, match: re.Match[str], scenario: Scenario, target: Object, entry: Object) -> None:
        scenario.log.write(_owner(match, target), plain(entry, target))

    def _restricted(self, path: str) -> str:
        return _COLLECTION.sub(rf"\1/namespaces/{self._only}\2", path) if self._only else path

    async def _get(self, path: str) -> Object:
        credential = await self.config.credentials.current()
        headers = {"Authorization": credential.authorization}
        async with self.session.get(self.config.server + path, headers=headers, ssl=self.tls) as answer:
            return orjson.loads(await answer.read()) if answer.status == 200 else {}

    async def _send(
        self, request: web.BaseRequest, body: bytes, dry_run: str = ""
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        path = self._restricted(request.path_qs)
        if dry_run:
            path += ("&" if "?" in path else "?") + f"dryRun={dry_run}"
        return await self.send(request, body, path)


def _passed(headers: object) -> dict[str, str]:
    left_out = WriteProxy.hidden_headers | {"content-encoding"}
    return {key: value for key, value in dict(headers).items() if key.lower() not in left_out}  # type: ignore[call-overload]


def _owner(match: re.Match[str], target: Object) -> str:
    """The managed resource that an effect is about: the object itself, or what controls it."""
    metadata = target.get("metadata", {})
    if target.get("kind") == "Status":
        return f"{match['plural']}/{match['name']}"
    for owner in metadata.get("ownerReferences", ()):
        if owner.get("controller") and match["plural"] in ("secrets", "providerconfigusages"):
            return f"{owner['kind']}/{owner['name']}"
    return f"{target.get('kind')}/{metadata.get('name')}"


def _event(event: Object) -> tuple[str, Object]:
    about = event.get("involvedObject") or event.get("regarding") or {}
    entry = {"type": event.get("type"), "reason": event.get("reason")}
    entry["message"] = event.get("message") or event.get("note") or ""
    annotations = event["metadata"].get("annotations")
    if annotations:
        entry["annotations"] = annotations
    return f"{about.get('kind')}/{about.get('name')}", plain(entry, {"metadata": about})
