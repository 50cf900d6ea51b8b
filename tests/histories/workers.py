"""Clients that read and write a few keys, and record everything they did."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections import Counter
from typing import Any

from tests.histories.connection import Answer, Connection, NoAnswer, NotSent
from tests.histories.history import (
    TOKEN,
    UNKNOWN_COMPLETION,
    Operation,
    Outcome,
    Snapshot,
    Verb,
    Version,
    as_fields,
)

NAMESPACE = "histories"
LABEL = {"soak": "history"}
SELECTOR = "labelSelector=soak%3Dhistory"
PATH = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
KEYS = tuple(f"key-{number}" for number in range(5))
_OFTEN = {
    Verb.CREATE: 6,
    Verb.GET: 6,
    Verb.UPDATE: 10,
    Verb.REPLACE: 2,
    Verb.PATCH: 5,
    Verb.APPLY: 5,
    Verb.DELETE: 4,
    Verb.LIST: 3,
    Verb.PAGES: 1,
}
_PAUSE = 0.04
_PAUSE_WITHOUT_SERVER = 0.2
_MOMENTS_SECONDS = 1.5
_PAGE = 2
_FILLINGS = (0, 0, 1_000, 30_000)
"""Sizes of objects in bytes, so that a full disk is noticed soon."""
_CONTENT_TYPES = {Verb.PATCH: "application/merge-patch+json", Verb.APPLY: "application/apply-patch+yaml"}
_REFUSED = (429, 507)
"""Answers that promise that nothing happened."""


class Recorder:
    """Everything that was done, by all clients."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.outcomes: Counter[Outcome] = Counter()
        self.unexpected: list[str] = []
        """Answers that no request of ours should get."""
        self.not_sent = 0
        self._last_answer = 0.0

    def is_answered(self) -> bool:
        """Whether a client had an answer in the last moments."""
        return time.monotonic() - self._last_answer < _MOMENTS_SECONDS

    def add(self, operation: Operation) -> None:
        self.operations.append(operation)
        if operation.outcome is not Outcome.UNKNOWN:
            self._last_answer = time.monotonic()
        self.outcomes[operation.outcome] += 1


class Worker:
    """One client, which does one thing after the other."""

    def __init__(self, name: str, seed: str, connection: Connection, recorder: Recorder) -> None:
        self._name = name
        self._chance = random.Random(seed)
        self._numbers = itertools.count()
        self._connection = connection
        self._recorder = recorder
        self._known: dict[str, Version] = {}
        """The newest version of each key that this client has seen."""

    async def run(self, stop: asyncio.Event) -> None:
        """Work until stopped."""
        verbs, weights = list(_OFTEN), list(_OFTEN.values())
        while not stop.is_set():
            verb = self._chance.choices(verbs, weights)[0]
            pause = _PAUSE if await self.do(verb, self._chance.choice(KEYS)) else _PAUSE_WITHOUT_SERVER
            await asyncio.sleep(self._chance.uniform(0, 2 * pause))

    async def do(self, verb: Verb, key: str) -> Operation | None:
        """One operation, which is recorded; None if there was no server."""
        if verb is Verb.UPDATE and key not in self._known:
            verb = Verb.GET
        try:
            if verb in (Verb.LIST, Verb.PAGES):
                operation = await self._list(verb)
            elif verb in (Verb.GET, Verb.DELETE):
                operation = await self._timed(Operation(self._name, verb, key, 0, 0, Outcome.UNKNOWN), None)
            else:
                operation = await self._write(verb, key)
        except NotSent:
            self._recorder.not_sent += 1
            return None
        self._recorder.add(operation)
        self._learn(operation)
        return operation

    async def _write(self, verb: Verb, key: str) -> Operation:
        token = f"{self._name}.{next(self._numbers)}"
        own = {verb.value: token}
        precondition = None
        if verb is Verb.UPDATE:
            known = self._known[key]
            precondition, own = known.rv, {**dict(known.fields), **own}
        filling = {"filling": "x" * self._chance.choice(_FILLINGS)}
        metadata: dict[str, Any] = {"name": key, "labels": LABEL, "annotations": filling}
        if precondition is not None:
            metadata["resourceVersion"] = str(precondition)
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {**own, TOKEN: token}}
        fields = as_fields({**own, TOKEN: token})
        operation = Operation(self._name, verb, key, 0, 0, Outcome.UNKNOWN, token, precondition, fields)
        return await self._timed(operation, body)

    async def _timed(self, operation: Operation, body: object) -> Operation:
        invoked = time.monotonic()
        try:
            answer = await self._connection.call(
                _METHODS[operation.verb],
                PATH if operation.verb is Verb.CREATE else _path(self._name, operation),
                body,
                _CONTENT_TYPES.get(operation.verb, "application/json"),
            )
        except NoAnswer:
            return operation._replace(invoked=invoked, completed=UNKNOWN_COMPLETION)
        outcome = self._outcome(operation, answer)
        completed = UNKNOWN_COMPLETION if outcome is Outcome.UNKNOWN else time.monotonic()
        done = operation._replace(invoked=invoked, completed=completed, outcome=outcome)
        if outcome is not Outcome.OK:
            return done
        if operation.verb is Verb.DELETE:
            return done._replace(uid=answer.body["details"]["uid"])
        return done._replace(version=as_version(answer.body))

    async def _list(self, verb: Verb) -> Operation:
        """All objects at once, or page by page; a paged list has the time of its first page."""
        operation = Operation(self._name, verb, "", time.monotonic(), UNKNOWN_COMPLETION, Outcome.UNKNOWN)
        limit = f"&limit={_PAGE}" if verb is Verb.PAGES else ""
        versions: list[Version] = []
        revisions: set[int] = set()
        proceed, completed = "", 0.0
        while True:
            try:
                answer = await self._connection.call("GET", f"{PATH}?{SELECTOR}{limit}{proceed}")
            except NoAnswer:
                return operation
            outcome = self._outcome(operation, answer)
            if outcome is not Outcome.OK:
                return operation._replace(outcome=outcome)
            completed = completed or time.monotonic()
            metadata = answer.body["metadata"]
            revisions.add(int(metadata["resourceVersion"]))
            versions += [as_version(item) for item in answer.body["items"]]
            if not metadata.get("continue"):
                break
            proceed = f"&continue={metadata['continue']}"
        if len(revisions) > 1:
            self._recorder.unexpected.append(f"pages of one list are of several moments: {sorted(revisions)}")
        return operation._replace(
            completed=completed, outcome=Outcome.OK, snapshot=Snapshot(min(revisions), tuple(versions))
        )

    def _outcome(self, operation: Operation, answer: Answer) -> Outcome:
        status = answer.status
        if status in (200, 201):
            return Outcome.OK
        if status == 404 and operation.key and operation.verb not in (Verb.CREATE, Verb.APPLY):
            return Outcome.ABSENT
        if status == 409:
            return Outcome.EXISTS if operation.verb is Verb.CREATE else Outcome.CONFLICT
        if status in _REFUSED or (status == 410 and operation.verb is Verb.PAGES):
            return Outcome.REFUSED
        if status < 500:
            self._recorder.unexpected.append(f"{operation.verb} {operation.key} got {status}: {answer.body}")
        return Outcome.UNKNOWN

    def _learn(self, operation: Operation) -> None:
        versions = [operation.version] if operation.version is not None else []
        if operation.snapshot is not None:
            versions += operation.snapshot.versions
        for version in versions:
            self._known[version.key] = version


_METHODS = {
    Verb.CREATE: "POST",
    Verb.GET: "GET",
    Verb.UPDATE: "PUT",
    Verb.REPLACE: "PUT",
    Verb.PATCH: "PATCH",
    Verb.APPLY: "PATCH",
    Verb.DELETE: "DELETE",
}


def _path(client: str, operation: Operation) -> str:
    applying = f"?fieldManager={client}&force=true" if operation.verb is Verb.APPLY else ""
    return f"{PATH}/{operation.key}{applying}"


def as_version(obj: dict[str, Any], *, deleted: bool = False) -> Version:
    """An object as histories compare it."""
    metadata = obj["metadata"]
    fields = as_fields(obj.get("data", {}))
    return Version(metadata["name"], int(metadata["resourceVersion"]), metadata["uid"], fields, deleted)
