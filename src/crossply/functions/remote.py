"""Calls a function over gRPC at an address.

The message is encoded before gRPC gets it (`compose.wire_codec`), so nothing is encoded twice, and the same
bytes can be sent again as v1beta1 to a function that does not know v1.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from crossply.compose.function_messages import Request, Response
from crossply.compose.wire_codec import WireError, decode_response, encode_request
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
CANCELLED = "Canceled"
"""The gRPC code as Go spells it."""
_NO_CONNECTION = re.compile(
    "(?i)failed to connect|connections to all backends failing|dns resolution|empty address list"
).match
"""Matches what gRPC says when it had no connection to send a call on; it has no code for that."""


class _NotSent(Exception):
    """A call that cannot have reached the function, so that it may be repeated."""

    def __init__(self, why: FunctionError) -> None:
        super().__init__(str(why))
        self.why = why


class Remote:
    """A function behind gRPC: plaintext, or mutual TLS where a directory of certificates is given."""

    __slots__ = ("_certificates", "_channels", "_instead", "_name", "_resolve", "_target", "_wait_for_ready")

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
        """`resolve` returns the current addresses of the target; None to let gRPC resolve it.

        Without `wait_for_ready` a call fails at once if nothing listens. `instead` is a hint for users if the
        function cannot be reached.
        """
        self._name = name
        self._wait_for_ready = wait_for_ready
        self._instead = instead
        self._target = target
        self._certificates = certificates
        self._resolve = resolve
        self._channels = ChannelPool(resolve or (lambda: Address(target)), certificates, max_reply)

    def __call__(self, request: Request, timeout: float) -> Response:
        """Send the request; waits for the function to accept connections, within the timeout."""
        encoded = encode_request(request)
        if self._resolve is not None:
            data = self._send_to_replica(encoded, timeout)
        elif self._wait_for_ready:
            data = self._send(encoded, timeout)
        else:
            data = self._send_now(encoded, timeout)
        try:
            return decode_response(data)
        except WireError as damage:
            message = f'cannot run Function "{self._name}": {damage}'
            raise FunctionReplyDamaged(message, function=self._name) from None

    def ready(self, within: float) -> bool:
        """Whether the function accepts calls within so many seconds."""
        deadline = time.monotonic() + within
        while self._resolve is not None and self._resolve() == NOWHERE:
            if time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE)
        channel = self._channels.take()
        import grpc

        waiting = grpc.channel_ready_future(channel.channel)
        try:
            waiting.result(timeout=max(deadline - time.monotonic(), 0.0))
        except grpc.FutureTimeoutError:
            waiting.cancel()
            return False
        finally:
            self._channels.release(channel)
        return True

    def close(self) -> None:
        """Close the connection after the calls in flight."""
        self._channels.close()

    def _send_to_replica(self, data: bytes, timeout: float) -> bytes:
        """Send to a current address of the function; resolves it again until one can be reached."""
        deadline = time.monotonic() + timeout
        may_repeat_cancelled = True
        while True:
            left = deadline - time.monotonic()
            try:
                if self._resolve is not None and self._resolve() == NOWHERE:
                    raise _NotSent(self._not_ready())
                return self._send(data, max(left, 0.001), wait=False)
            except _NotSent as problem:
                if left < _PAUSE:
                    raise problem.why from None
            except FunctionError as problem:
                # A replica that stops cancels calls that arrive at that moment; another one takes them.
                if problem.grpc_code != CANCELLED or not may_repeat_cancelled or left < _PAUSE:
                    raise
                may_repeat_cancelled = False
            time.sleep(_PAUSE)

    def _send_now(self, data: bytes, timeout: float) -> bytes:
        """Send without waiting for a connection."""
        try:
            return self._send(data, timeout, wait=False)
        except _NotSent as problem:
            raise problem.why from None

    def _not_ready(self) -> FunctionUnavailable:
        detail = f"no replica of {self._target} is ready"
        message = f'cannot run Function "{self._name}": rpc error: code = Unavailable desc = {detail}'
        return FunctionUnavailable(message, hint=f"does {self._expected()}?", function=self._name)

    def _send(self, data: bytes, timeout: float, wait: bool = True) -> bytes:
        """Send on the current channel; with `wait`, wait for a connection."""
        channel = self._channels.take()
        try:
            return self._exchange(channel, data, timeout, wait)
        finally:
            self._channels.release(channel)

    def _exchange(self, channel: Channel, data: bytes, timeout: float, wait: bool) -> bytes:
        import grpc

        headers = call_headers()
        try:
            return channel.send(data, timeout=timeout, wait_for_ready=wait, metadata=headers)
        except grpc.RpcError as problem:
            if _code(problem) != "UNIMPLEMENTED":
                raise self._failure_of(problem, wait) from None
        try:
            return channel.send_beta(data, timeout=timeout, wait_for_ready=wait, metadata=headers)
        except grpc.RpcError as problem:
            raise self._failure_of(problem, wait) from None

    def _failure_of(self, problem: Any, wait: bool) -> Exception:
        failure = self._failure(problem)
        never_sent = not wait and _code(problem) == "UNAVAILABLE" and _NO_CONNECTION(problem.details() or "")
        return _NotSent(failure) if never_sent else failure

    def _failure(self, problem: Any) -> FunctionError:
        """The error with the message of gRPC for Go."""
        name = _code(problem)
        detail = _go_message(name, problem.details() or "")
        code = "".join(word.capitalize() for word in name.split("_")).replace("Cancelled", CANCELLED)
        text = f'cannot run Function "{self._name}": rpc error: code = {code} desc = {detail}'
        kind, hint = self._kind_of(name, detail)
        return kind(text, hint=hint, function=self._name, grpc_code=code)

    def _kind_of(self, name: str, detail: str) -> tuple[type[FunctionError], str]:
        if name == "DEADLINE_EXCEEDED":
            return FunctionTimedOut, f"{FunctionTimedOut.hint}; {self._advice()}"
        if name == "UNAVAILABLE":
            return FunctionUnavailable, self._advice()
        # gRPC has the same code for this as for a rate limit: only its text distinguishes them.
        too_large = "received message larger than max" in detail
        return (FunctionReplyTooLarge if too_large else FunctionError), ""

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


def _go_message(code: str, details: str) -> str:
    if code == "DEADLINE_EXCEEDED":
        return "context deadline exceeded"
    if "eceived message larger than max" in details:
        sizes = details.partition("larger than max (")[2].partition(")")[0]
        return f"grpc: received message larger than max ({sizes})"
    return details
