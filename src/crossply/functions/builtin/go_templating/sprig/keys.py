"""Private keys for genPrivateKey and certificates: generation, PEM encoding and decoding."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

_TRADITIONAL = {"RSA": "RSA", "EC": "EC", "DSA": "DSA"}


class PemBlock(NamedTuple):
    """A block of a PEM text: what its lines say it is, and its bytes."""

    label: str
    data: bytes


def gen_private_key(kind: str) -> str:
    """Make a private key: rsa, dsa, ecdsa or ed25519."""
    makers = {"": _rsa_4096, "rsa": _rsa_4096, "dsa": _dsa, "ecdsa": _ecdsa, "ed25519": _ed25519}
    maker = makers.get(kind)
    return f"Unknown type {kind}" if maker is None else to_pem(maker())


def rsa_key(bits: int) -> PrivateKeyTypes:
    """Make an RSA key."""
    from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

    return generate_private_key(65537, bits)


def _rsa_4096() -> PrivateKeyTypes:
    return rsa_key(4096)


def _dsa() -> PrivateKeyTypes:
    from cryptography.hazmat.primitives.asymmetric.dsa import generate_private_key

    return generate_private_key(2048)


def _ecdsa() -> PrivateKeyTypes:
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

    return generate_private_key(SECP256R1())


def _ed25519() -> PrivateKeyTypes:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.generate()


def to_pem(key: PrivateKeyTypes) -> str:
    """Write a key as PEM: each kind in its oldest format, others as PKCS#8."""
    from cryptography.hazmat.primitives.asymmetric import dsa, ec, rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    old = isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | dsa.DSAPrivateKey)
    form = PrivateFormat.TraditionalOpenSSL if old else PrivateFormat.PKCS8
    return key.private_bytes(Encoding.PEM, form, NoEncryption()).decode()


def first_block(text: str) -> PemBlock | None:
    """The first PEM block in a text."""
    import re
    from base64 import b64decode
    from binascii import Error

    for match in re.finditer(r"(?m)^-----BEGIN ([^\n]*?)-----[ \t]*\r?\n", text):
        body, end, _ = text[match.end() :].partition(f"-----END {match[1]}-----")
        # Headers, as of an encrypted key, stand before an empty line.
        lines = body.replace("\r", "").rpartition("\n\n")[2]
        try:
            if end:
                return PemBlock(match[1], b64decode("".join(lines.split()), validate=True))
        except (Error, ValueError):
            continue
    return None


def from_pem(text: str) -> PrivateKeyTypes:
    """Read a private key, or fail in sprig's words."""
    block = first_block(text)
    if block is None:
        raise FunctionFailed("no PEM data in input")
    if block.label == "PRIVATE KEY":
        return _loaded(block.data, "decoding PEM as PKCS#8")
    if not block.label.endswith(" PRIVATE KEY"):
        raise FunctionFailed(f"no private key data in PEM block of type {block.label}")
    kind = block.label.removesuffix(" PRIVATE KEY")
    if kind not in _TRADITIONAL:
        raise FunctionFailed(f"invalid private key type {block.label}")
    return _loaded(block.data, f"parsing {kind} private key from PEM")


def _loaded(data: bytes, context: str) -> PrivateKeyTypes:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    try:
        # The library's own check takes seconds for a large RSA key; what Go checks is checked below.
        return _consistent(load_der_private_key(data, None, unsafe_skip_rsa_key_validation=True))
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise FunctionFailed(f"{context}: {error}") from None


def _consistent(key: PrivateKeyTypes) -> PrivateKeyTypes:
    """Refuse an RSA key whose numbers do not belong together."""
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    if not isinstance(key, RSAPrivateKey):
        return key
    numbers = key.private_numbers()
    public = numbers.public_numbers
    if numbers.p * numbers.q != public.n:
        raise ValueError("crypto/rsa: invalid primes")
    if any((numbers.d * public.e - 1) % (prime - 1) for prime in (numbers.p, numbers.q)):
        raise ValueError("crypto/rsa: invalid exponents")
    return key
