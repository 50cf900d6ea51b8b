"""Controllers of one shape: informers fill a workqueue, workers reconcile its keys.

A controller is declared by what it reconciles, what else it watches, and a reconcile function that returns
`Requeue` or nothing. Everything that follows is the same for all of them, and is decided here:

* A conflict and `Waiting` are retried after a short pause, and not reported.
* Every other error is logged, and retried with exponential backoff.
* A replica that lost the shard in the meantime stops without a word: the new owner starts over.
* Each reconcile is a run with an id, a span and log lines that carry both.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import orjson

from crossply.compose.object_metadata import controller_of
from crossply.errors import CrossplyError
from crossply.kube.failures import Conflict
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.sharded_workqueue import ShardedWorkqueue
from crossply.kube.sharding import ShardOwner
from crossply.kube.watch import Key
from crossply.kube.write_guard import NotOwner
from crossply.record.run_context import Run, running
from crossply.values.backoff import RetryPauses

CONFLICT_SECONDS, WAITING_SECONDS = 0.05, 0.2
"""The first pause after a conflict, and while something else has to happen."""
FEW = 4
"""How many objects of a kind are reconciled at once where there are few of them."""

_log = logging.getLogger("crossply.control")


class Requeue(NamedTuple):
    """Reconcile the same object again, even if nothing changes."""

    after: float | None = None
    """Seconds; None backs off as after a failure."""


Reconcile = Callable[[Key], Awaitable[Requeue | None]]
"""Brings the object of a namespace and name in line; it may be gone."""
EnqueuedKeys = Callable[[Key, bytes | None, bytes | None], Iterable[Key]]
"""Which objects a change concerns, by the key of what changed, and its bytes before and after."""


class Waiting(CrossplyError):
    """Something must happen first; the object is reconciled again soon."""

    code = "CP-801"


@dataclass(frozen=True, slots=True)
class Watch:
    """Objects of another kind whose changes enqueue what is reconciled."""

    informer: Informer
    keys: EnqueuedKeys


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """The declaration of a controller."""

    name: str
    """In logs and metrics."""
    reconciles: Informer
    """A change of its objects enqueues them."""
    reconcile: Reconcile
    elsewhere: Reconcile | None = None
    """What to do for objects that another replica reconciles; it cannot write."""
    watches: Sequence[Watch] = ()
    needs: Sequence[Informer] = ()
    """What must have synced, too, before anything is reconciled."""
    enqueues: EnqueuedKeys = lambda key, old, new: (key,)
    """Which objects a change of what is reconciled concerns."""
    shard_key: Callable[[Key], str] | None = None
    """The text that decides which replica reconciles an object; without it one replica has all of them."""
    concurrency: int = FEW


class Replica(Protocol):
    """The replica that a controller runs in, as far as controllers care."""

    @property
    def shards(self) -> ShardOwner:
        """Which objects this replica reconciles."""
        ...

    @property
    def retry(self) -> RetryPauses:
        """The pauses after failures."""
        ...


class Controller:
    """A declared controller, running from `start` to `stop`."""

    def __init__(self, replica: Replica, spec: Spec) -> None:
        self._spec = spec
        self._kind = spec.reconciles.kind.kind
        elsewhere = spec.elsewhere
        self._queue: ShardedWorkqueue[Key] = ShardedWorkqueue(
            spec.name,
            replica.shards,
            list_keys=spec.reconciles.keys,
            shard_key=spec.shard_key or (lambda _: spec.name),
            elsewhere=None if elsewhere is None else lambda key: self._process(key, elsewhere),
            retry=replica.retry,
        )
        self._unsubscribe: list[Callable[[], None]] = []
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Enqueue everything that exists, and from now on what changes."""
        reconciled = Watch(self._spec.reconciles, self._spec.enqueues)
        for watch in (reconciled, *self._spec.watches):
            self._unsubscribe.append(watch.informer.subscribe(self._enqueuing(watch.keys)))
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop reconciling; nothing is undone."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def enqueue(self, key: Key) -> None:
        """Reconcile an object soon."""
        self._queue.add(key)

    def enqueue_name(self, name: str) -> None:
        """Reconcile a cluster scoped object soon."""
        self._queue.add(("", name))

    def enqueue_after(self, key: Key, seconds: float) -> None:
        """Reconcile an object in so many seconds."""
        self._queue.add_after(key, seconds)

    def enqueue_all(self) -> None:
        """Reconcile everything that exists."""
        for key in list(self._spec.reconciles.keys()):
            self._queue.add(key)

    def owns(self, key: Key) -> bool:
        """Whether this replica reconciles an object."""
        return self._queue.owns(key)

    def failures(self, key: Key) -> int:
        """How many rounds in a row the reconcile of an object failed."""
        return self._queue.failures(key)

    def reset_backoff(self, key: Key) -> None:
        """The next failure is the first."""
        self._queue.forget(key)

    def _enqueuing(self, keys: EnqueuedKeys) -> Callable[[str, Key, bytes | None, bytes | None], None]:
        def handle(change: str, key: Key, old: bytes | None, new: bytes | None) -> None:
            for enqueued in keys(key, old, new):
                self._queue.add(enqueued)

        return handle

    async def _run(self) -> None:
        for informer in (self._spec.reconciles, *self._spec.needs):
            await informer.synced.wait()
        await self._queue.run(lambda key: self._process(key, self._spec.reconcile), self._spec.concurrency)

    async def _process(self, key: Key, reconcile: Reconcile) -> None:
        with running(self._spec.name, self._kind, *key) as run:
            started = time.perf_counter()
            await self._reconcile(run, key, reconcile)
            if _log.isEnabledFor(logging.DEBUG):
                milliseconds = round((time.perf_counter() - started) * 1000, 1)
                _log.debug("reconcile ended", extra={"fields": {"ms": milliseconds}})

    async def _reconcile(self, run: Run, key: Key, reconcile: Reconcile) -> None:
        try:
            result = await reconcile(key)
        except Conflict:
            # Another client wrote in between; the watch delivers that change.
            self._queue.retry_soon(key, CONFLICT_SECONDS)
        except Waiting as problem:
            _log.debug("%s", problem)
            self._queue.retry_soon(key, WAITING_SECONDS)
        except NotOwner:
            raise
        except CrossplyError as problem:
            log_failure(run, problem)
            self._queue.retry(key)
        except Exception as problem:  # noqa: BLE001 - a mistake of ours must not end the queue
            run.failed(type(problem).__name__)
            _log.exception("reconcile failed unexpectedly")
            self._queue.retry(key)
        else:
            self._requeue(key, result)

    def _requeue(self, key: Key, result: Requeue | None) -> None:
        if result is None:
            return
        if result.after is None:
            self._queue.retry(key)
        else:
            self._queue.add_after(key, result.after)


def log_failure(run: Run, problem: CrossplyError) -> None:
    """Log why a run failed, and mark its span."""
    run.failed(f"{problem.code}: {problem}")
    fields = {"code": problem.code, "error": str(problem)}
    _log.warning("reconcile failed", extra={"fields": fields})


def controller_name(prefix: str, kind: Kind) -> str:
    """The name of a controller that reconciles a kind."""
    return f"{prefix}/{kind.kind.lower()}.{kind.group}"


def by_name(reconcile: Callable[[str], Awaitable[Requeue | None]]) -> Reconcile:
    """The reconcile function of cluster scoped objects, which have only a name."""
    return lambda key: reconcile(key[1])


def owned_by(owner: Kind) -> EnqueuedKeys:
    """Enqueues the cluster scoped object of a kind that controls what changed, or controlled it before."""

    def keys(key: Key, old: bytes | None, new: bytes | None) -> Iterable[Key]:
        for data in (old, new):
            reference = None if data is None else controller_of(orjson.loads(data))
            if reference is not None and reference.get("kind") == owner.kind:
                yield "", str(reference.get("name", ""))

    return keys


def indexed_by(reconciled: Informer, index: str) -> EnqueuedKeys:
    """Enqueues the objects that an index has under the name of what changed."""
    return lambda key, old, new: reconciled.keys_by(index, key[1])
