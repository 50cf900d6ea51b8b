"""`@function` makes a composition function of a `def` or `async def`.

However it is called (by the engine in this process, as bytes over gRPC, or in a test), a response is
created that contains the desired state of earlier steps, the author's code changes it, and it is encoded.
An exception becomes a fatal result that names the file and the line.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, overload

from crossply.compose import function_messages
from crossply.sdk.encoded_request import receive
from crossply.sdk.error_response import error_response
from crossply.sdk.failures import NotAFunction, ValueRefused
from crossply.sdk.in_process_request import InProcessRequest
from crossply.sdk.request import Clock, Request
from crossply.sdk.request_interface import AnswerableRequest, IncomingRequest, Written
from crossply.sdk.response import Response

if TYPE_CHECKING:
    from crossply.sdk.coroutine_runner import CoroutineRunner

Body = Callable[[Request, Response], "Awaitable[None] | None"]
"""The code of an author."""

_IS_COROUTINE = 0x80
_TAKES_ANY = 0x04


class Function:
    """A composition function: call it like the decorated function, or let it answer requests."""

    def __init__(self, body: Body, *, ttl: float | None = None) -> None:
        self._body = body
        self._ttl = ttl
        self._awaiting = _awaiting(_code(body))
        self.name: str = getattr(body, "__name__", type(body).__name__)
        self.log: Callable[[str], None] | None = None
        """Called with the traceback of an exception."""
        self.clock: Clock | None = None
        """The clock of `req.now`; the system clock by default."""
        self.__doc__ = body.__doc__
        self.__wrapped__ = body

    def __call__(self, *arguments: Any) -> Any:
        """Call the author's code with a request and a response; without them, serve."""
        return self._body(*arguments) if arguments else self.serve()

    def __repr__(self) -> str:
        return f"<function {self.name}>"

    def run(self, request: function_messages.Request) -> function_messages.Response:
        """Answer a request of the engine in this process."""
        return self._finish(InProcessRequest(request))

    def answer(self, data: bytes, context: Any = None) -> bytes:
        """Answer a request as bytes."""
        return self._finish(receive(data))

    def try_out(
        self,
        xr: Mapping[str, Any] | None = None,
        *,
        observed: Mapping[str, Mapping[str, Any]] | None = None,
        desired: Mapping[str, Mapping[str, Any]] | None = None,
        required: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
        schemas: Mapping[str, Mapping[str, Any]] | None = None,
        input: Mapping[str, Any] | None = None,  # noqa: A002 - the protocol's own word
        context: Mapping[str, Any] | None = None,
        credentials: Mapping[str, Mapping[str, bytes]] | None = None,
        clock: Clock | None = None,
    ) -> Response:
        """Call it with plain dicts and return the response, for tests. Exceptions are not caught."""
        from crossply.sdk.in_process_request import build_request

        request = build_request(
            xr or {},
            observed or {},
            desired or {},
            required_resources=required,
            required_schemas=schemas,
            input=input,
            context=context,
            credentials=credentials,
        )
        incoming = InProcessRequest(request)
        response = self._new_response(incoming, clock or self.clock)
        self._change(response)
        incoming.finish(response.draft())
        return response

    def serve(self, words: Sequence[str] | None = None) -> None:
        """Serve the function over gRPC with command line flags: `python main.py --insecure`."""
        from crossply.sdk.serving import serve_from_command_line

        serve_from_command_line(self, words)

    def _new_response(self, incoming: IncomingRequest, clock: Clock | None) -> Response:
        request = Request(incoming, clock)
        response = Response(request, incoming)
        if self._ttl is not None:
            response.ttl = self._ttl
        return response

    def _finish(self, incoming: AnswerableRequest[Written]) -> Written:
        response = self._respond(incoming)
        try:
            return incoming.finish(response.draft())
        except Exception as problem:  # noqa: BLE001 - the response may hold any value
            return incoming.finish(self._failed(incoming, problem).draft())

    def _respond(self, incoming: IncomingRequest) -> Response:
        try:
            response = self._new_response(incoming, self.clock)
            self._change(response)
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - the author's code may raise anything
            return self._failed(incoming, problem)
        return response

    def _change(self, response: Response) -> None:
        def call() -> Any:
            return self._body(response._request, response)

        returned = call() if self._awaiting is None else self._awaiting.run(call)
        if returned is not None and returned is not response:
            raise ValueRefused(
                f"{self.name} returned a {type(returned).__name__}",
                hint="a function changes the response it is given, and returns nothing",
            )

    def _failed(self, incoming: IncomingRequest, problem: BaseException) -> Response:
        return error_response(incoming, problem, self._body, self.log)


def _code(body: Any) -> CodeType:
    """The code of a callable that takes a request and a response; raises NotAFunction for others."""
    called = body if hasattr(body, "__code__") else getattr(body, "__call__", None)  # noqa: B004
    code = getattr(called, "__code__", None)
    if not isinstance(code, CodeType):
        raise NotAFunction(f"{body!r} is not a function")
    takes = code.co_argcount - (1 if hasattr(called, "__self__") else 0)
    if takes != 2 and not code.co_flags & _TAKES_ANY:
        raise NotAFunction(
            f"{getattr(body, '__name__', body)} takes {takes} arguments instead of two",
            place=f"{code.co_filename}:{code.co_firstlineno}",
        )
    return code


def _awaiting(code: CodeType) -> CoroutineRunner | None:
    if not code.co_flags & _IS_COROUTINE:
        return None
    from crossply.sdk.coroutine_runner import CoroutineRunner

    return CoroutineRunner(code)


@overload
def function(body: Body) -> Function: ...
@overload
def function(*, ttl: float | None = None) -> Callable[[Body], Function]: ...
def function(body: Body | None = None, *, ttl: float | None = None) -> Function | Callable[[Body], Function]:
    """Make a composition function of a `def` or `async def` that takes a request and a response.

    @function
    def compose(req, rsp):
        rsp.desired["bucket"] = {"apiVersion": "…", "kind": "Bucket", "spec": {"name": req.xr.name}}
    """
    if body is not None:
        return Function(body, ttl=ttl)
    return lambda body: Function(body, ttl=ttl)
