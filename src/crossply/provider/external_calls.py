"""Calls of a provider's methods: in the event loop or in threads, and never longer than they may take."""

from __future__ import annotations

import asyncio
import inspect
import logging
import traceback
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from crossply.errors import CrossplyError
from crossply.kube.failures import Conflict
from crossply.kube.watch import Key
from crossply.provider.external_error import ExternalFailure, external_failure
from crossply.provider.managed_kind import ManagedKind

_log = logging.getLogger("crossply.provider")
HIDDEN = "(hidden)"
_SHORTEST_SECRET = 4
"""Shorter texts are no secrets, and would be found in many words."""


class ExternalCalls:
    """The methods of one kind, of one instance of its class.

    A thread cannot be interrupted. While one that took too long still runs, nothing else is called for the
    same resource, so that nothing is created twice.
    """

    def __init__(self, kind: ManagedKind) -> None:
        self._instance = kind.cls()
        self._kind = kind
        self._threads = ThreadPoolExecutor(kind.settings.concurrency, f"{kind.kind.kind.lower()}-")
        self._overdue: dict[Key, Future[Any]] = {}

    async def call(
        self, key: Key, method: str, *arguments: Any, deadline: float, secrets: Iterable[str] = ()
    ) -> Any:
        """What a method returns; raises ExternalFailure, or Conflict.

        `deadline` is a time of the event loop. `secrets` are kept out of messages.
        """
        self._check_overdue(key, method)
        limit = asyncio.timeout_at(deadline)
        try:
            async with limit:
                return await self._run(key, getattr(self._instance, method), *arguments)
        except Conflict:
            raise
        except Exception as problem:
            if limit.expired():
                seconds = f"{self._kind.settings.timeout:g}"
                raise ExternalFailure(f"{method} did not end within {seconds} seconds") from problem
            _log_place(method, problem)
            raise _hidden(external_failure(problem), secrets) from problem

    async def disconnect(self, key: Key, client: Any) -> None:
        """Call `disconnect`, if the class has it."""
        if self._kind.has("disconnect"):
            deadline = asyncio.get_running_loop().time() + self._kind.settings.timeout
            await self.call(key, "disconnect", client, deadline=deadline)

    def close(self) -> None:
        """Start no more threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, key: Key, function: Any, *arguments: Any) -> Any:
        if inspect.iscoroutinefunction(function):
            return await function(*arguments)
        future = self._threads.submit(copy_context().run, function, *arguments)
        try:
            result = await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if not future.done():
                self._overdue[key] = future
            raise
        return await result if inspect.isawaitable(result) else result

    def _check_overdue(self, key: Key, method: str) -> None:
        overdue = self._overdue.get(key)
        if overdue is None:
            return
        if not overdue.done():
            raise ExternalFailure(f"cannot call {method}: an earlier call has not ended yet")
        del self._overdue[key]


def _log_place(method: str, problem: Exception) -> None:
    """Log where a mistake in a provider's code is. The message is reported elsewhere, without secrets."""
    if not isinstance(problem, CrossplyError):
        frame = traceback.extract_tb(problem.__traceback__)[-1]
        name = type(problem).__name__
        _log.warning("%s raised %s at %s:%s", method, name, frame.filename, frame.lineno)


def _hidden(failure: ExternalFailure, secrets: Iterable[str]) -> ExternalFailure:
    message = str(failure)
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            message = message.replace(secret, HIDDEN)
    return failure.replace(message=message)
