"""gRPC channels to a function, replaced when its addresses or our certificates change.

A call ends on the channel that it started on, which is closed after its last call. gRPC spreads calls over
all addresses of a name in turn, and reconnects by itself. A call is sent again only if gRPC knows that it did
not reach the function.
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
    ("grpc.max_reconnect_backoff_ms", 2000),
    # In spite of its name: how long an attempt to connect may take. A handshake with a busy server is slow.
    ("grpc.min_reconnect_backoff_ms", 5000),
    # Where a replica is lost, ask for the addresses of the others; not half a minute later.
    ("grpc.dns_min_time_between_resolutions_ms", 1000),
)
_CHECK_SECONDS = 1.0
"""How often certificates are checked for changes, while calls are made."""
_FILES = ("ca.crt", "tls.crt", "tls.key")


class Address(NamedTuple):
    """Where a function is called."""

    target: str
    """A name or addresses, as gRPC writes them."""
    authority: str = ""
    """Whose certificate it shows, where that is not what the target says."""


NOWHERE = Address("")
"""No address is known at the moment."""


class Channel:
    """An open gRPC channel, with the methods of each version of the protocol."""

    __slots__ = ("calls", "channel", "key", "send", "send_beta")

    def __init__(self, channel: grpc.Channel, key: object) -> None:
        same: Any = None  # the messages are bytes already
        self.channel = channel
        self.send: Callable[..., bytes] = channel.unary_unary(METHOD, same, same)
        self.send_beta: Callable[..., bytes] = channel.unary_unary(BETA_METHOD, same, same)
        self.key = key
        """The address and the certificates that it was opened with."""
        self.calls = 0


class ChannelPool:
    """The newest channel to one function, and older ones while they have calls."""

    __slots__ = ("_certificates", "_checked_at", "_current", "_lock", "_max_reply", "_resolve", "_state")

    def __init__(self, resolve: Callable[[], Address], certificates: str | None, max_reply: int) -> None:
        self._resolve = resolve
        self._certificates = certificates
        self._max_reply = max_reply
        self._lock = threading.Lock()
        self._current: Channel | None = None
        self._checked_at = float("-inf")
        self._state: tuple[int, ...] = ()

    def take(self) -> Channel:
        """The channel for one call; the caller must `release` it."""
        with self._lock:
            key = (self._resolve(), self._certificate_state())
            before, channel = self._current, self._current
            if channel is None or channel.key != key:
                channel = self._current = Channel(self._open(key[0]), key)
            channel.calls += 1
            idle = before is not None and before is not channel and not before.calls
        if before is not None and idle:
            before.channel.close()
        return channel

    def release(self, channel: Channel) -> None:
        with self._lock:
            channel.calls -= 1
            over = not channel.calls and channel is not self._current
        if over:
            channel.channel.close()

    def close(self) -> None:
        """Close the channel after its last call."""
        with self._lock:
            channel, self._current = self._current, None
            idle = channel is not None and not channel.calls
        if channel is not None and idle:
            channel.channel.close()

    def _certificate_state(self) -> tuple[int, ...]:
        """Changes when the certificates are replaced."""
        if self._certificates is None or time.monotonic() - self._checked_at < _CHECK_SECONDS:
            return self._state
        self._checked_at = time.monotonic()
        try:
            files = [os.stat(os.path.join(self._certificates, name)) for name in _FILES]
        except OSError:
            # Reported when the certificates are used.
            return self._state
        self._state = tuple(number for file in files for number in (file.st_mtime_ns, file.st_ino))
        return self._state

    def _open(self, address: Address) -> grpc.Channel:
        silence_grpc()
        import grpc

        options = [("grpc.max_receive_message_length", self._max_reply), *_OPTIONS]
        if address.target.startswith(_LOOPBACK):
            # gRPC would send even local calls through the proxy that the environment names.
            options.append(("grpc.enable_http_proxy", 0))
        # A unix socket is on this machine; its path is no host name.
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
