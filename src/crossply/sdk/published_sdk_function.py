"""A function written for the published Python SDK: a class with a method `RunFunction`.

It receives the messages of that SDK and a context that behaves like that of gRPC's asynchronous server.
"""

from __future__ import annotations

from asyncio import iscoroutine
from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any, NoReturn

from crossply.compose import function_messages
from crossply.compose.wire_codec import decode_response, encode_request
from crossply.functions.server import Refused
from crossply.sdk.coroutine_runner import CoroutineRunner
from crossply.sdk.error_response import encoded_error_response


class PublishedFunction:
    """Answers requests with an instance of the class."""

    def __init__(self, servicer: Any, request_class: Any, body: Any = None) -> None:
        """`body` is the author's code, where it is not the method itself."""
        self._run = servicer.RunFunction
        self._body = body if body is not None else self._run
        self._is_async = iscoroutinefunction(self._run)
        self._request_class = request_class
        self._awaiting = CoroutineRunner(getattr(self._run, "__code__", None))
        self.name: str = type(servicer).__name__
        self.log: Callable[[str], None] | None = None

    def handle(self, data: bytes, context: Any = None) -> bytes:
        """Answer a request; exceptions of the function are raised."""
        request = self._request_class.FromString(data)
        response = self._call(request, context)
        encoded: bytes = response.SerializeToString()
        return encoded

    def answer(self, data: bytes, context: Any = None) -> bytes:
        """Answer a request; exceptions of the function become fatal results."""
        try:
            return self.handle(data, context)
        except Refused:
            raise
        except Exception as problem:  # noqa: BLE001 - the author's code may raise anything
            return encoded_error_response(data, problem, self._body, self.log)

    def run(self, request: function_messages.Request) -> function_messages.Response:
        """Answer a request of the engine in this process."""
        return decode_response(self.answer(encode_request(request)))

    def _call(self, request: Any, context: Any) -> Any:
        if self._is_async:
            return self._awaiting.run(lambda: self._run(request, AsyncContext(context)))
        response = self._run(request, Context(context))
        return self._awaiting.run(lambda: response) if iscoroutine(response) else response


class Context:
    """The gRPC context of a call."""

    def __init__(self, context: Any) -> None:
        self._context = context if context is not None else _NoCall()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def abort(self, code: Any, details: str = "", trailing_metadata: Any = ()) -> Any:
        """End the call with a status."""
        _refuse(code, details)


class AsyncContext(Context):
    """The gRPC context of a call of an asynchronous function."""

    async def abort(self, code: Any, details: str = "", trailing_metadata: Any = ()) -> Any:
        """End the call with a status."""
        _refuse(code, details)

    async def send_initial_metadata(self, metadata: Any) -> None:
        """Send metadata ahead of the answer."""
        self._context.send_initial_metadata(metadata)


def _refuse(code: Any, details: str) -> NoReturn:
    raise Refused(code, details)


class _NoCall:
    """The context of a call in this process."""

    def invocation_metadata(self) -> tuple[Any, ...]:
        return ()

    def time_remaining(self) -> None:
        return None

    def peer(self) -> str:
        return "in-process"

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **named: None
