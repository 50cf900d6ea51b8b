"""Opening the way to a function: in this process, by its annotations, or by the scheme of its endpoint.

An endpoint without a scheme of ours is an address that gRPC understands. It is called with mutual TLS, never
without: what runs there was given its certificate by the control plane.
"""

from __future__ import annotations

from collections.abc import Callable

from crossply.control.calls.bound import AT_ONCE, COMPUTING_AT_ONCE, Bound
from crossply.control.calls.function_calls import FunctionMeter, meter_of
from crossply.control.calls.ways import Way
from crossply.functions import builtin
from crossply.functions.binding import (
    BUILTIN,
    bind,
    bind_builtin,
    choose_runtime,
)
from crossply.functions.breaker import Breaker
from crossply.functions.failures import FunctionNotBound
from crossply.functions.host_access import Check, HostAccess
from crossply.functions.lines import Address
from crossply.functions.remote import Remote
from crossply.functions.reply_limits import MAX_REPLY
from crossply.functions.runner import Runner
from crossply.kinds.composition import NATIVE_FUNCTION

Opener = Callable[[Way], Runner]


class Opening:
    """Opens ways."""

    def __init__(self) -> None:
        self.schemes: dict[str, Opener] = {}
        """Who opens endpoints of a scheme, such as `container`."""
        self.instead: Opener | None = None
        """Who runs functions of endpoints that cannot be reached from here."""
        self.certificates = ""
        """The directory of the certificates that we show to functions; empty where we have none."""
        self.where: Callable[[str], Callable[[], Address] | None] | None = None
        """Who says where an endpoint is at the moment; None where gRPC finds that out itself."""
        self.check_host_access: Check = HostAccess().check
        """Refuses Functions that use what they may not of this machine."""
        self.max_reply = MAX_REPLY
        """The largest answer in bytes."""
        self.at_once = AT_ONCE
        """How many calls one function gets at the same time."""

    def native(self) -> Bound:
        """The function that runs Compositions without a pipeline."""
        runner = bind_builtin(builtin.NATIVE, NATIVE_FUNCTION, self.max_reply)
        return Bound(NATIVE_FUNCTION, runner, FunctionMeter(NATIVE_FUNCTION), pure=True, quick=True)

    def open(self, way: Way) -> Bound:
        """A function that can be called; it is reached when it is called first."""
        if way.endpoint:
            meter = FunctionMeter(way.function, way.image, way.endpoint)
            runner = self._remote(way)
            ready = runner.ready if isinstance(runner, Remote) else None
            return Bound(repr(way), Breaker(runner), meter, False, False, way.revision, self.at_once, ready)
        function = way.as_function()
        runtime = choose_runtime(function)
        self.check_host_access(function)
        pure = runtime == BUILTIN
        quick = pure and builtin.is_quick(way.image)
        bound = bind(function, max_reply=self.max_reply)
        meter = meter_of(function)
        computes = pure and builtin.computes_here(way.image)
        at_once = min(self.at_once, COMPUTING_AT_ONCE) if computes else self.at_once
        return Bound(repr(way), bound if pure else Breaker(bound), meter, pure, quick, at_once=at_once)

    def _remote(self, way: Way) -> Runner:
        opener = self.schemes.get(way.scheme, self.instead)
        if opener is not None:
            return opener(way)
        if not self.certificates:
            raise FunctionNotBound(
                f'cannot get gRPC client connection for Function "{way.function}": there is no certificate '
                f"to show to {way.endpoint}",
                hint="functions that are not on this machine are called with mutual TLS only",
            )
        where = self.where(way.endpoint) if self.where is not None else None
        return Remote(way.function, way.endpoint, self.certificates, self.max_reply, where)
