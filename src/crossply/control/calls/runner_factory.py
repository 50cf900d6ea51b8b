"""Opens the runner of an endpoint: in this process, by annotations, or by the scheme of its address.

An address without a scheme of ours is one that gRPC understands. It is called with mutual TLS, never without:
what runs there got its certificate from the control plane.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from crossply.control.calls.cached_runner import CachedRunner
from crossply.control.calls.endpoint import Endpoint
from crossply.control.calls.fair_turns import FairTurns
from crossply.control.calls.inline_runner import EventLoopRunner
from crossply.control.calls.metered_runner import MeteredRunner, target_of
from crossply.control.calls.readiness_runner import ReadinessRunner, RevisionHealth
from crossply.control.calls.response_cache import ResponseCache
from crossply.control.calls.response_store import ResponseStoreSettings
from crossply.control.calls.runner_protocol import AsyncRunner
from crossply.control.calls.threaded_runner import MAX_CONCURRENT_CALLS, ThreadedRunner
from crossply.functions import builtin
from crossply.functions.binding import BUILTIN, bind, bind_builtin, choose_runtime
from crossply.functions.channels import Address
from crossply.functions.circuit_breaker import CircuitBreaker
from crossply.functions.failures import FunctionNotBound
from crossply.functions.host_access_policy import Check, HostAccess
from crossply.functions.in_process import InProcess
from crossply.functions.remote import Remote
from crossply.functions.reply_limits import MAX_REPLY
from crossply.functions.runner import Runner
from crossply.kinds.composition import Step
from crossply.kinds.composition_native_step import NATIVE_FUNCTION

MAX_COMPUTING_CALLS = 4
"""How many calls to a built-in function run at the same time that may compute for seconds in this process."""

_MAX_CONTAINERS = 8
"""How many container functions run at the same time."""
_CONTAINER = "container"

NATIVE = Endpoint(NATIVE_FUNCTION, "")
"""The function that runs Compositions without a pipeline."""

OpenContainer = Callable[[Step], Runner]
"""Opens the runner of a step that names an image instead of a Function."""
OpenEndpoint = Callable[[Endpoint], Runner]
ResolveAddress = Callable[[str], Callable[[], Address] | None]
"""For an address, a function that says where it is now; None where gRPC resolves it."""


class CallSettings(NamedTuple):
    """The operator's settings for function calls."""

    at_once: int = MAX_CONCURRENT_CALLS
    """How many calls one function gets at the same time."""
    max_reply: int = MAX_REPLY
    """The largest response in bytes."""
    store: ResponseStoreSettings | None = None
    """Where responses are stored on disk; None for nowhere."""


class RunnerFactory:
    """Opens runners. Nothing is connected or started before the first call."""

    def __init__(
        self,
        settings: CallSettings = CallSettings(),  # noqa: B008 - it is immutable
        check_host_access: Check = HostAccess().check,  # noqa: B008 - it is immutable
        cache: ResponseCache | None = None,
        open_container: OpenContainer | None = None,
        open_unreachable: OpenEndpoint | None = None,
    ) -> None:
        """`check_host_access` refuses Functions that use what they may not of this machine.

        `open_unreachable` opens addresses of no registered scheme; without it they are connected to.
        """
        self._open_container = open_container
        self._container_threads = ThreadPoolExecutor(_MAX_CONTAINERS, thread_name_prefix="container")
        self._container_turns = FairTurns(_MAX_CONTAINERS)
        self.cache = cache or ResponseCache()
        self.check_host_access = check_host_access
        self._settings = settings
        self._open_unreachable = open_unreachable
        self._schemes: dict[str, OpenEndpoint] = {}
        self._certificates: str | None = None
        self._resolve: ResolveAddress | None = None

    def register_scheme(self, scheme: str, open_endpoint: OpenEndpoint) -> None:
        """Open addresses of a scheme, such as `container`, with this function."""
        self._schemes[scheme] = open_endpoint

    def use_certificates(self, directory: str, resolve: ResolveAddress | None = None) -> None:
        """Connect to addresses with the client certificate in a directory, from now on."""
        self._certificates, self._resolve = directory, resolve

    def open(self, endpoint: Endpoint, health: RevisionHealth) -> AsyncRunner:
        if endpoint == NATIVE:
            runner = bind_builtin(builtin.NATIVE, NATIVE_FUNCTION, self._settings.max_reply)
            return MeteredRunner(builtin_runner(runner, endpoint, self._settings.at_once), NATIVE_FUNCTION)
        if endpoint.address:
            return self._open_revision(endpoint, health)
        return self._open_local(endpoint)

    def open_container(self, step: Step) -> AsyncRunner:
        """The runner of a step that names an image; it need not be closed."""
        if self._open_container is None or step.container is None:
            raise FunctionNotBound(
                f'cannot run function "{step.name}": there is nothing here that runs containers',
                hint="install crun or runc, or serve the function and call it as a step of a pipeline",
            )
        threaded = ThreadedRunner(
            self._open_container(step), threads=self._container_threads, turns=self._container_turns
        )
        return MeteredRunner(threaded, step.function, step.container.image, _CONTAINER)

    def close(self) -> None:
        """Start no more containers."""
        self._container_threads.shutdown(wait=False)

    def _open_revision(self, endpoint: Endpoint, health: RevisionHealth) -> AsyncRunner:
        runner = self.connect(endpoint)
        is_ready = runner.ready if isinstance(runner, Remote) else None
        threaded = ThreadedRunner(CircuitBreaker(runner), self._settings.at_once, is_ready)
        metered = MeteredRunner(threaded, endpoint.function, endpoint.image, endpoint.address)
        ready = ReadinessRunner(metered, endpoint, threaded.is_ready, health)
        return CachedRunner(ready, endpoint, self.cache)

    def _open_local(self, endpoint: Endpoint) -> AsyncRunner:
        function = endpoint.as_function()
        runtime = choose_runtime(function)
        self.check_host_access(function)
        runner = bind(function, max_reply=self._settings.max_reply)
        labels = (endpoint.function, endpoint.image, target_of(function))
        if runtime == BUILTIN:
            return MeteredRunner(builtin_runner(runner, endpoint, self._settings.at_once), *labels)
        threaded = ThreadedRunner(CircuitBreaker(runner), self._settings.at_once)
        return CachedRunner(MeteredRunner(threaded, *labels), endpoint, self.cache)

    def connect(self, endpoint: Endpoint) -> Runner:
        """The blocking runner of a revision, without any wrapper."""
        open_endpoint = self._schemes.get(endpoint.scheme, self._open_unreachable)
        if open_endpoint is not None:
            return open_endpoint(endpoint)
        if self._certificates is None:
            raise FunctionNotBound(
                f'cannot get gRPC client connection for Function "{endpoint.function}": there is no '
                f"certificate to show to {endpoint.address}",
                hint="functions that are not on this machine are called with mutual TLS only",
            )
        resolve = self._resolve(endpoint.address) if self._resolve is not None else None
        max_reply = self._settings.max_reply
        return Remote(endpoint.function, endpoint.address, self._certificates, max_reply, resolve)


def builtin_runner(runner: Runner, endpoint: Endpoint, max_calls: int) -> ThreadedRunner | EventLoopRunner:
    """The runner of a built-in function: the same request always gets the same response."""
    if isinstance(runner, InProcess) and (endpoint == NATIVE or builtin.is_quick(endpoint.image)):
        return EventLoopRunner(runner)
    if builtin.computes_here(endpoint.image):
        return ThreadedRunner(runner, min(max_calls, MAX_COMPUTING_CALLS))
    return ThreadedRunner(runner, max_calls)
