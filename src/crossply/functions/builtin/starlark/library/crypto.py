"""The module `crypto`: digests in hexadecimal."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

from crossply.functions.builtin.starlark.language.arguments import BIG_INT, Signature, optional, required
from crossply.functions.builtin.starlark.language.byte_strings import to_bytes
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.values import Builtin, Module, Value, type_name
from crossply.functions.builtin.starlark.library.blake3 import blake3

_HMAC = Signature("crypto.hmac_sha256", required("key"), required("message"))
_STABLE_ID = Signature("crypto.stable_id", required("seed"), optional("length", BIG_INT, 8))
_MAX_LENGTH = 64


def data_of(function: str, value: Value) -> bytes:
    """The bytes of a string or bytes value."""
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise EvalError(f"{function}: got {type_name(value)}, want string or bytes")
    return to_bytes(value)


def _digest(name: str, digest: Callable[[bytes], bytes]) -> Builtin:
    signature = Signature(name, required("data"))
    return Builtin(name, lambda args, kwargs: digest(data_of(name, signature.bind(args, kwargs)[0])).hex())


def _hmac_sha256(args: tuple[Value, ...], kwargs: dict[str, Value]) -> str:
    key, message = (data_of("crypto.hmac_sha256", value) for value in _HMAC.bind(args, kwargs))
    return hmac.new(key, message, "sha256").hexdigest()


def _stable_id(args: tuple[Value, ...], kwargs: dict[str, Value]) -> str:
    seed, length = _STABLE_ID.bind(args, kwargs)
    data = data_of("crypto.stable_id", seed)
    if not 1 <= length <= _MAX_LENGTH:
        raise EvalError(f"crypto.stable_id: length must be between 1 and {_MAX_LENGTH}, got {length}")
    return hashlib.sha256(data).hexdigest()[:length]


CRYPTO = Module(
    "crypto",
    {
        "sha256": _digest("crypto.sha256", lambda data: hashlib.sha256(data).digest()),
        "sha512": _digest("crypto.sha512", lambda data: hashlib.sha512(data).digest()),
        "sha1": _digest("crypto.sha1", lambda data: hashlib.sha1(data).digest()),
        "md5": _digest("crypto.md5", lambda data: hashlib.md5(data).digest()),
        "blake3": _digest("crypto.blake3", blake3),
        "hmac_sha256": Builtin("crypto.hmac_sha256", _hmac_sha256),
        "stable_id": Builtin("crypto.stable_id", _stable_id),
    },
)
