"""Calling a function over gRPC at an address where it already runs.

The message is bytes before gRPC sees it (`compose.wire`), so nothing is encoded twice and the same bytes can
be sent again as v1beta1 to a function that does not know v1.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from crossply.compose.messages import Request, Response
from crossply.compose.wire import WireError, decode_response, encode_request
from crossply.functions.channels import (
    BETA_METHOD,
    METHOD,
    NOWHERE,
    Address,
    Channel,
    ChannelPool,
    read_certificate,
    silence_grpc,
)
from crossply.functions.failures import (
    FunctionError,
    FunctionReplyDamaged,
    FunctionReplyTooLarge,
    FunctionTimedOut,
    FunctionUnavailable,
)
from crossply.functions.reply_limits import MAX_REPLY
from crossply.record.run_context import call_headers

__all__ = ["BETA_METHOD", "MAX_REPLY", "METHOD", "Remote", "read_certificate", "silence_grpc"]

_PAUSE = 0.05
_NO_CONNECTION = re.compile(
    "(?i)failed to connect|connections to all backends failing|dns resolution|empty address list"
).match
"""What gRPC says where it had nobody to send a call to."""


class _NotSent(Exception):
    """A call that nobody can have seen, so that it may be made again."""

    def __init__(self, why: FunctionError) -> None:
        super().__init__(str(why))
        self.why = why


class Remote:
    """A function behind gRPC: plaintext, or mutual TLS where a directory of certificates is given."""

    __slots__ = ("_certificates", "_instead", "_lines", "_name", "_target", "_wait_for_ready", "_where")

    def __init__(
        self,
        name: str,
        target: str,
        certificates: str | None = None,
        max_reply: int = MAX_REPLY,
        resolve: Callable[[], Address] | None = None,
        *,
        wait_for_ready: bool = True,
        instead: str = "",
    ) -> None:
        """`where` says what the target stands for at the moment, where gRPC cannot find that out itself.

        Without `wait_for_ready` a call fails at once where nobody listens. `instead` is what a user can do
        where the function cannot be reached.
        """
        self._name = name
        self._wait_for_ready = wait_for_ready
        self._instead = instead
        self._target = target
        self._certificates = certificates
        self._where = resolve
        self._lines = ChannelPool(resolve or (lambda: Address(target)), certificates, max_reply)

    def __call__(self, request: Request, timeout: float) -> Response:
        """Send the request, waiting for the function to come up if need be."""
        encoded = encode_request(request)
        if self._where is not None:
            data = self._seek(encoded, timeout)
        elif self._wait_for_ready:
            data = self._send(encoded, timeout)
        else:
            data = self._send_now(encoded, timeout)
        try:
            return decode_response(data)
        except WireError as damage:
            raise FunctionReplyDamaged(f'cannot run Function "{self._name}": {damage}') from None

    def ready(self, within: float) -> bool:
        """Tell whether the function accepts calls within so many seconds."""
        deadline = time.monotonic() + within
        while self._where is not None and self._where() == NOWHERE:
            if time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE)
        line = self._lines.take()
        import grpc

        waiting = grpc.channel_ready_future(line.channel)
        try:
            waiting.result(timeout=max(deadline - time.monotonic(), 0.0))
        except grpc.FutureTimeoutError:
            waiting.cancel()
            return False
        finally:
            self._lines.give_back(line)
        return True

    def close(self) -> None:
        """Hang up, after the calls that are under way."""
        self._lines.close()

    def _seek(self, data: bytes, timeout: float) -> bytes:
        """Send to where the function is, which may be elsewhere by the time that it can be reached."""
        deadline = time.monotonic() + timeout
        while True:
            left = deadline - time.monotonic()
            try:
                if self._where is not None and self._where() == NOWHERE:
                    raise _NotSent(FunctionUnavailable(self._nobody(), hint=f"does {self._expected()}?"))
                return self._send(data, max(left, 0.001), wait=False)
            except _NotSent as problem:
                if left < _PAUSE:
                    raise problem.why from None
            time.sleep(_PAUSE)

    def _send_now(self, data: bytes, timeout: float) -> bytes:
        """Send to somebody who listens already."""
        try:
            return self._send(data, timeout, wait=False)
        except _NotSent as problem:
            raise problem.why from None

    def _nobody(self) -> str:
        detail = f"no replica of {self._target} is ready"
        return f'cannot run Function "{self._name}": rpc error: code = Unavailable desc = {detail}'

    def _send(self, data: bytes, timeout: float, wait: bool = True) -> bytes:
        """Send on the line of now; with `wait`, until there is a connection."""
        line = self._lines.take()
        try:
            return self._exchange(line, data, timeout, wait)
        finally:
            self._lines.give_back(line)

    def _exchange(self, line: Channel, data: bytes, timeout: float, wait: bool) -> bytes:
        import grpc

        headers = call_headers()
        try:
            return line.send(data, timeout=timeout, wait_for_ready=wait, metadata=headers)
        except grpc.RpcError as problem:
            if _code(problem) != "UNIMPLEMENTED":
                raise self._failure_of(problem, wait) from None
        try:
            return line.send_beta(data, timeout=timeout, wait_for_ready=wait, metadata=headers)
        except grpc.RpcError as problem:
            raise self._failure_of(problem, wait) from None

    def _failure_of(self, problem: Any, wait: bool) -> Exception:
        failure = self._failure(problem)
        never_sent = not wait and _code(problem) == "UNAVAILABLE" and _NO_CONNECTION(problem.details() or "")
        return _NotSent(failure) if never_sent else failure

    def _failure(self, problem: Any) -> FunctionError:
        """The error in the words of gRPC for Go."""
        name = _code(problem)
        detail = _in_go_words(name, problem.details() or "")
        code = "".join(word.capitalize() for word in name.split("_")).replace("Cancelled", "Canceled")
        text = f'cannot run Function "{self._name}": rpc error: code = {code} desc = {detail}'
        error = self._error(name, detail, text)
        error.grpc_code = code
        return error

    def _error(self, name: str, detail: str, text: str) -> FunctionError:
        if name == "DEADLINE_EXCEEDED":
            return FunctionTimedOut(text, hint=f"{FunctionTimedOut.hint}; {self._advice()}")
        if name == "UNAVAILABLE":
            return FunctionUnavailable(text, hint=self._advice())
        return (
            FunctionReplyTooLarge(text)
            if "received message larger than max" in detail
            else FunctionError(text)
        )

    def _expected(self) -> str:
        security = (
            "without TLS" if self._certificates is None else f"with TLS by the CA in {self._certificates}"
        )
        return f"the function serve at {self._target} {security}"

    def _advice(self) -> str:
        question = f"does {self._expected()}?"
        return f"{question} or {self._instead}" if self._instead else question


def _code(problem: Any) -> str:
    name: str = problem.code().name
    return name


def _in_go_words(code: str, details: str) -> str:
    if code == "DEADLINE_EXCEEDED":
        return "context deadline exceeded"
    if "eceived message larger than max" in details:
        sizes = details.partition("larger than max (")[2].partition(")")[0]
        return f"grpc: received message larger than max ({sizes})"
    return details
