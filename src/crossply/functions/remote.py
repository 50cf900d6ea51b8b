"""Calling a function over gRPC at an address where it already runs.

The message is bytes before gRPC sees it (`compose.wire`), so nothing is encoded twice and the same bytes can
be sent again as v1beta1 to a function that does not know v1.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from crossply.compose.messages import Request, Response
from crossply.compose.wire import WireError, decode_response, encode_request
from crossply.functions.failures import (
    FunctionError,
    FunctionReplyDamaged,
    FunctionReplyTooLarge,
    FunctionTimedOut,
    FunctionUnavailable,
)
from crossply.record.run import call_headers

if TYPE_CHECKING:
    import grpc

METHOD = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
BETA_METHOD = "/apiextensions.fn.proto.v1beta1.FunctionRunnerService/RunFunction"

MAX_REPLY = 4 << 20
"""The largest answer in bytes: the default limit of every gRPC client."""

_LOOPBACK = ("localhost:", "127.", "[::1]:", "unix:", "unix-abstract:")
# A function that is just starting should be found soon after it listens, not a second later.
_RECONNECT = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
)


class _Line(NamedTuple):
    """An open channel, and how to send on it in each version of the protocol."""

    channel: grpc.Channel
    send: Callable[..., bytes]
    send_beta: Callable[..., bytes]


class Remote:
    """A function behind gRPC: plaintext, or mutual TLS where a directory of certificates is given."""

    __slots__ = ("_certificates", "_line", "_max_reply", "_name", "_target")

    def __init__(
        self, name: str, target: str, certificates: str | None = None, max_reply: int = MAX_REPLY
    ) -> None:
        self._name = name
        self._target = target
        self._certificates = certificates
        self._max_reply = max_reply
        self._line: _Line | None = None

    def __call__(self, request: Request, timeout: float) -> Response:
        """Send the request, waiting for the function to come up if need be."""
        data = self._exchange(encode_request(request), timeout)
        try:
            return decode_response(data)
        except WireError as damage:
            raise FunctionReplyDamaged(f'cannot run Function "{self._name}": {damage}') from None

    def ready(self, within: float) -> bool:
        """Tell whether the function accepts calls within so many seconds."""
        line = self._connect()
        import grpc

        waiting = grpc.channel_ready_future(line.channel)
        try:
            waiting.result(timeout=within)
        except grpc.FutureTimeoutError:
            waiting.cancel()
            return False
        return True

    def close(self) -> None:
        """Hang up."""
        line, self._line = self._line, None
        if line is not None:
            line.channel.close()

    def _exchange(self, data: bytes, timeout: float) -> bytes:
        line = self._connect()
        import grpc

        headers = call_headers()
        try:
            return line.send(data, timeout=timeout, wait_for_ready=True, metadata=headers)
        except grpc.RpcError as problem:
            if _code(problem) != "UNIMPLEMENTED":
                raise self._failure(problem) from None
        try:
            return line.send_beta(data, timeout=timeout, wait_for_ready=True, metadata=headers)
        except grpc.RpcError as problem:
            raise self._failure(problem) from None

    def _connect(self) -> _Line:
        if self._line is None:
            channel = self._open()
            same: Any = None  # the messages are bytes already
            self._line = _Line(
                channel,
                channel.unary_unary(METHOD, same, same),
                channel.unary_unary(BETA_METHOD, same, same),
            )
        return self._line

    def _open(self) -> grpc.Channel:
        silence_grpc()
        import grpc

        options = [("grpc.max_receive_message_length", self._max_reply), ("grpc.max_send_message_length", -1)]
        options += _RECONNECT
        if self._target.startswith(_LOOPBACK):
            # gRPC would send even local calls through the proxy that the environment names.
            options.append(("grpc.enable_http_proxy", 0))
        if self._certificates is None:
            return grpc.insecure_channel(self._target, options)
        return grpc.secure_channel(self._target, _credentials(self._certificates), options)

    def _failure(self, problem: Any) -> FunctionError:
        """The error in the words of gRPC for Go."""
        name = _code(problem)
        said = _in_go_words(name, problem.details() or "")
        code = "".join(word.capitalize() for word in name.split("_")).replace("Cancelled", "Canceled")
        text = f'cannot run Function "{self._name}": rpc error: code = {code} desc = {said}'
        error = self._error(name, said, text)
        error.grpc_code = code
        return error

    def _error(self, name: str, said: str, text: str) -> FunctionError:
        if name == "DEADLINE_EXCEEDED":
            return FunctionTimedOut(text, hint=f"{FunctionTimedOut.hint}; does {self._expected()}?")
        if name == "UNAVAILABLE":
            return FunctionUnavailable(text, hint=f"does {self._expected()}?")
        return (
            FunctionReplyTooLarge(text) if "received message larger than max" in said else FunctionError(text)
        )

    def _expected(self) -> str:
        how = "without TLS" if self._certificates is None else f"with TLS by the CA in {self._certificates}"
        return f"the function serve at {self._target} {how}"


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


def _credentials(directory: str) -> grpc.ChannelCredentials:
    import grpc

    authority, key, certificate = (
        read_certificate(directory, name) for name in ("ca.crt", "tls.key", "tls.crt")
    )
    return grpc.ssl_channel_credentials(authority, key, certificate)


def read_certificate(directory: str, name: str) -> bytes:
    """One of the PEM files of a directory of certificates."""
    path = os.path.join(directory, name)
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as problem:
        raise FunctionUnavailable(
            f"cannot load certificates: open {path}: {(problem.strerror or '').lower()}",
            hint="the directory must hold ca.crt, tls.crt and tls.key",
        ) from None


def silence_grpc() -> None:
    """Turn gRPC's own log off before it is imported: what goes wrong is reported once, as an error."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
