"""Calling a function that runs in this process: the built-in ones."""

from __future__ import annotations

import math
from time import monotonic

from crossply.compose.function_messages import Function, Request, Response
from crossply.errors import CrossplyError
from crossply.functions.failures import FunctionCrashed, FunctionReplyTooLarge
from crossply.functions.reply_limits import (
    EVENT_LOOP_SECONDS,
    MAX_REPLY,
    UNMEASURED,
    LimitExceeded,
    Limits,
    check_reply,
    reset_limits,
    set_limits,
    size_of,
)


class InProcess:
    """A function as a plain call, whose reply is limited as one over gRPC is.

    Python cannot interrupt the call: the built-in functions look at the limits themselves. One that
    `measures_itself` counts what it adds, so that its reply need not be measured again.
    """

    __slots__ = ("_function", "_max_reply", "_measures_itself", "_name")

    def __init__(
        self, name: str, function: Function, max_reply: int = MAX_REPLY, *, measures_itself: bool = False
    ) -> None:
        self._name = name
        self._function = function
        self._max_reply = max_reply
        self._measures_itself = measures_itself

    def __call__(self, request: Request, timeout: float) -> Response:
        """Call the function here and now; without a timeout (0) it may take as long as it needs."""
        deadline = monotonic() + timeout if timeout > 0 else math.inf
        return self._call(request, Limits(self._max_reply, deadline))

    def call_in_event_loop(self, request: Request) -> Response:
        """Call the function, or raise TooMuchAtOnce where it would keep an event loop too long."""
        limits = Limits(self._max_reply, monotonic() + EVENT_LOOP_SECONDS, in_event_loop=True)
        return self._call(request, limits)

    def _call(self, request: Request, limits: Limits) -> Response:
        token = set_limits(limits)
        try:
            response = self._function(request)
            if not self._measures_itself:
                self._check_size(request, response)
            return response
        except CrossplyError:
            raise
        except LimitExceeded as problem:
            raise FunctionReplyTooLarge(f'cannot run Function "{self._name}": {problem}') from None
        except Exception as problem:
            message = f"{type(problem).__name__}: {problem}"
            hint = "this is a mistake in the function: please report it with the input that shows it"
            raise FunctionCrashed(f'cannot run Function "{self._name}": {message}', hint=hint) from problem
        finally:
            reset_limits(token)

    def _check_size(self, request: Request, response: Response) -> None:
        if response.desired is not None and _added(request, response) > UNMEASURED:
            check_reply(response.desired, response.context, self._max_reply)

    def close(self) -> None:
        """Nothing was opened."""


def _added(request: Request, response: Response) -> int:
    """How many bytes a reply has beside what it passes on, or any number beyond `UNMEASURED`."""
    assert response.desired is not None
    size = 0 if response.context is request.context else size_of(response.context, UNMEASURED)
    desired = request.desired.resources
    for name, resource in response.desired.resources.items():
        passed = desired.get(name)
        if passed is None or passed.object is not resource.object:
            size += size_of(resource.object, UNMEASURED)
        if size > UNMEASURED:
            break
    composite, passed = response.desired.composite, request.desired.composite
    if composite is not None and (passed is None or passed.object is not composite.object):
        size += size_of(composite.object, UNMEASURED)
    return size
