"""Open connections to a function, made anew when its addresses or our certificates change.

Calls that are under way end on the line that they began on, which is closed after the last of them. gRPC
spreads calls over all addresses of a name, in turn, and connects anew by itself where a connection breaks. A
call is sent again only where gRPC knows that nobody has seen it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from crossply.functions.failures import FunctionUnavailable

if TYPE_CHECKING:
    import grpc

METHOD = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
BETA_METHOD = "/apiextensions.fn.proto.v1beta1.FunctionRunnerService/RunFunction"

_LOOPBACK = ("localhost:", "127.", "[::1]:", "unix:", "unix-abstract:")
_IN_TURN = '{"loadBalancingConfig": [{"round_robin": {}}]}'
_OPTIONS = (
    ("grpc.max_send_message_length", -1),
    ("grpc.service_config", _IN_TURN),
    # A function that is just starting should be found soon after it listens, not a second later.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
    # Where a replica is lost, ask for the addresses of the others; not half a minute later.
    ("grpc.dns_min_time_between_resolutions_ms", 1000),
)
_LOOK_SECONDS = 1.0
"""Certificates are looked at so often, while calls are made."""
_FILES = ("ca.crt", "tls.crt", "tls.key")


class Address(NamedTuple):
    """Where a function is called."""

    target: str
    """A name or addresses, as gRPC writes them."""
    authority: str = ""
    """Whose certificate it shows, where that is not what the target says."""


NOWHERE = Address("")
"""Nobody who could be called is known at the moment."""


class Channel:
    """An open channel, and how to send on it in each version of the protocol."""

    __slots__ = ("calls", "channel", "send", "send_beta", "shown")

    def __init__(self, channel: grpc.Channel, shown: object) -> None:
        same: Any = None  # the messages are bytes already
        self.channel = channel
        self.send: Callable[..., bytes] = channel.unary_unary(METHOD, same, same)
        self.send_beta: Callable[..., bytes] = channel.unary_unary(BETA_METHOD, same, same)
        self.shown = shown
        """The address and the certificates that it was opened with."""
        self.calls = 0


class ChannelPool:
    """The newest line to one function, and older ones as long as somebody is on them."""

    __slots__ = ("_certificates", "_line", "_lock", "_looked", "_max_reply", "_seen", "_where")

    def __init__(self, resolve: Callable[[], Address], certificates: str | None, max_reply: int) -> None:
        self._where = resolve
        self._certificates = certificates
        self._max_reply = max_reply
        self._lock = threading.Lock()
        self._line: Channel | None = None
        self._looked = float("-inf")
        self._seen: tuple[int, ...] = ()

    def take(self) -> Channel:
        """The line for one call; to be given back."""
        with self._lock:
            key = (self._where(), self._look())
            before, line = self._line, self._line
            if line is None or line.shown != key:
                line = self._line = Channel(self._open(key[0]), key)
            line.calls += 1
            idle = before is not None and before is not line and not before.calls
        if before is not None and idle:
            before.channel.close()
        return line

    def give_back(self, line: Channel) -> None:
        """The call has ended."""
        with self._lock:
            line.calls -= 1
            over = not line.calls and line is not self._line
        if over:
            line.channel.close()

    def close(self) -> None:
        """Hang up, once nobody is on the line."""
        with self._lock:
            line, self._line = self._line, None
            idle = line is not None and not line.calls
        if line is not None and idle:
            line.channel.close()

    def _look(self) -> tuple[int, ...]:
        """What tells these certificates from the next ones."""
        if self._certificates is None or time.monotonic() - self._looked < _LOOK_SECONDS:
            return self._seen
        self._looked = time.monotonic()
        try:
            files = [os.stat(os.path.join(self._certificates, name)) for name in _FILES]
        except OSError:
            # What cannot be read is told when it has to be.
            return self._seen
        self._seen = tuple(number for file in files for number in (file.st_mtime_ns, file.st_ino))
        return self._seen

    def _open(self, address: Address) -> grpc.Channel:
        silence_grpc()
        import grpc

        options = [("grpc.max_receive_message_length", self._max_reply), *_OPTIONS]
        if address.target.startswith(_LOOPBACK):
            # gRPC would send even local calls through the proxy that the environment names.
            options.append(("grpc.enable_http_proxy", 0))
        # What is behind a unix socket is on this machine; the path is nobody's name.
        authority = address.authority or ("localhost" if address.target.startswith("unix:") else "")
        if authority:
            options.append(("grpc.ssl_target_name_override", authority))
        if self._certificates is None:
            return grpc.insecure_channel(address.target, options)
        return grpc.secure_channel(address.target, _credentials(self._certificates), options)


def _credentials(directory: str) -> grpc.ChannelCredentials:
    import grpc

    directory = newest_state(directory)
    authority, certificate, key = (read_certificate(directory, name) for name in _FILES)
    return grpc.ssl_channel_credentials(authority, key, certificate)


def newest_state(directory: str) -> str:
    """The directory itself, where it is a link to the newest of several: its files belong together.

    A mounted Secret is a directory of links by way of one more link, `..data`, which is what is replaced.
    """
    data = os.path.join(directory, "..data")
    return os.path.realpath(data if os.path.isdir(data) else directory)


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
