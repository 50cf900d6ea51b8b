"""Calls a built-in function that is pure and takes microseconds in the event loop itself.

A call that turns out to be large is abandoned and made again in a thread.
"""

from __future__ import annotations

from crossply.control.calls.runner_protocol import Answer, FunctionCall
from crossply.control.calls.threaded_runner import ThreadedRunner
from crossply.functions.in_process import InProcess
from crossply.functions.reply_limits import TooMuchAtOnce

MAX_LARGE_CALLS = 2
"""How many large calls run at the same time: they compete with the event loop for the interpreter."""


class EventLoopRunner:
    """Runs a function in the event loop, and large calls in threads."""

    def __init__(self, function: InProcess) -> None:
        self._function = function
        self._large = ThreadedRunner(function, MAX_LARGE_CALLS)

    async def __call__(self, call: FunctionCall) -> Answer:
        try:
            return Answer(self._function.call_in_event_loop(call.request))
        except TooMuchAtOnce:
            # The function is pure: the abandoned call had no effect.
            return await self._large(call)

    def close(self) -> None:
        self._large.close()
