"""Calls of a provider's methods: threads, timeouts and error messages."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass

import pytest
from tests.support.patience import PATIENCE

from crossply.kube.failures import Conflict
from crossply.provider import ExternalError, managed
from crossply.provider.external_calls import ExternalCalls
from crossply.provider.external_error import ExternalFailure, external_failure
from crossply.provider.managed_kind import managed_kind

KEY = ("here", "one")


@managed(group="calls.example.org", timeout=0.2)
class Caller:
    """Calls whatever it is given."""

    @dataclass
    class Parameters:
        """None."""

    def observe(self, ctx, params):
        return ctx(params)

    async def create(self, ctx, params):
        return await ctx(params)

    def update(self, ctx, params): ...

    def delete(self, ctx, params): ...


@pytest.fixture
def calls():
    external = ExternalCalls(managed_kind(Caller))
    yield external
    external.close()


async def call(calls, method, function, argument=None, seconds=PATIENCE, secrets=()):
    deadline = asyncio.get_running_loop().time() + seconds
    return await calls.call(KEY, method, function, argument, deadline=deadline, secrets=secrets)


async def test_synchronous_methods_run_in_threads_and_asynchronous_ones_here(calls):
    assert await call(calls, "observe", lambda _: threading.current_thread()) is not threading.main_thread()

    async def where(_):
        return threading.current_thread()

    assert await call(calls, "create", where) is threading.main_thread()


async def test_a_method_that_takes_too_long_fails(calls):
    with pytest.raises(ExternalFailure, match=r"create did not end within 0\.2 seconds"):
        await call(calls, "create", lambda _: asyncio.sleep(PATIENCE), seconds=0.05)


async def test_nothing_is_called_for_a_resource_while_its_thread_still_runs(calls):
    release = threading.Event()
    try:
        with pytest.raises(ExternalFailure, match="observe did not end"):
            await call(calls, "observe", lambda _: release.wait(PATIENCE), seconds=0.05)
        with pytest.raises(ExternalFailure, match="cannot call create: an earlier call has not ended yet"):
            await call(calls, "create", asyncio.sleep)
    finally:
        release.set()
    async with asyncio.timeout(PATIENCE):
        while calls._overdue[KEY].running():
            await asyncio.sleep(0.01)
    assert await call(calls, "observe", lambda _: "again") == "again"


def fails_with(problem):
    def function(_):
        raise problem

    return function


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (ValueError("no such table"), "no such table"),
        (KeyError(), "KeyError"),
        (ExternalError("refused", hint="ask for more rights"), "refused (ask for more rights)"),
        (TimeoutError("of its own"), "of its own"),
        (RuntimeError("password hush-hush is wrong"), "password (hidden) is wrong"),
    ],
)
async def test_the_message_of_a_failure_is_that_of_the_exception_without_secrets(calls, problem, message):
    with pytest.raises(ExternalFailure) as failure:
        await call(calls, "observe", fails_with(problem), secrets=("hush-hush", "is"))
    assert str(failure.value) == message


async def test_the_place_of_an_exception_is_logged_without_its_message(calls, caplog):
    with pytest.raises(ExternalFailure):
        await call(calls, "observe", fails_with(ValueError("hush-hush")))
    with pytest.raises(ExternalFailure):
        await call(calls, "observe", fails_with(ExternalError("refused")))
    (record,) = caplog.records
    assert record.getMessage().startswith(f"observe raised ValueError at {__file__}:")
    assert "hush" not in caplog.text


async def test_a_conflict_is_no_failure_of_the_external_system(calls):
    with pytest.raises(Conflict):
        await call(calls, "observe", fails_with(Conflict("somebody wrote")))


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (KeyError("region"), "KeyError: 'region'"),
        (AttributeError("'str' object has no attribute 'get'"), "AttributeError: 'str' object has no"),
        (RuntimeError("the server is busy"), "the server is busy"),
        (RuntimeError(), "RuntimeError"),
    ],
)
def test_an_error_in_the_code_is_named(problem: Exception, text: str) -> None:
    assert str(external_failure(problem)).startswith(text)
