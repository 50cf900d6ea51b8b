"""JSON Web Tokens signed with the server's own key: ES256 for an elliptic key, RS256 for an RSA key.

The key decides the algorithm, never the token: a header that says `none`, `HS256` or anything else than the
key's own algorithm is refused before its signature is looked at.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections import OrderedDict
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from crossply.apiserver.auth.token_identity import SigningKeyError, TokenRefused
from crossply.values import Object

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

_NO_KEY = "invalid signature, no keys found"
_BAD_SIGNATURE = "go-jose/go-jose: error in cryptographic primitive"
_REMEMBERED = 2048
_LONGEST = 16_384
_P256_BYTES = 32


def unverified_issuer(token: str) -> str | None:
    """The issuer that a token claims to have; None when it is no JWT at all. Never a reason to trust it."""
    parts = token.split(".")
    if len(parts) != 3 or len(token) > _LONGEST:
        return None
    claims = _json_part(parts[1])
    issuer = claims.get("iss") if claims is not None else None
    return issuer if isinstance(issuer, str) else None


def _json_part(part: str) -> Object | None:
    try:
        value = orjson.loads(_decode(part))
    except (ValueError, binascii.Error):
        return None
    return value if isinstance(value, dict) else None


def _decode(part: str) -> bytes:
    """Decode base64url. Only the one spelling of the bytes that `_encode` gives is accepted."""
    data = base64.b64decode(part.encode("ascii") + b"=" * (-len(part) % 4), altchars=b"-_", validate=True)
    if _encode(data) != part:
        raise ValueError("not canonical")
    return data


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


class SigningKey:
    """The key that signs tokens and tells its own from others'. It is loaded when it is first needed."""

    def __init__(self, pem: bytes) -> None:
        self._pem = pem
        # Signatures that were found good. What else makes a token valid changes with time and is checked
        # at every use; that it was signed by this key does not.
        self._verified: OrderedDict[str, Object] = OrderedDict()

    @cached_property
    def _key(self) -> EllipticCurvePrivateKey | RSAPrivateKey:
        return _load(self._pem)

    @cached_property
    def algorithm(self) -> str:
        """The one algorithm that this key is used with."""
        return "ES256" if _is_elliptic(self._key) else "RS256"

    @cached_property
    def key_id(self) -> str:
        """What the key is called in the header of its tokens."""
        return _key_id(self._key)

    def sign(self, claims: Object) -> str:
        """A token with these claims."""
        header = _encode(orjson.dumps({"alg": self.algorithm, "kid": self.key_id}))
        signed = f"{header}.{_encode(orjson.dumps(claims, option=orjson.OPT_SORT_KEYS))}"
        return f"{signed}.{_encode(_signature(self._key, signed.encode('ascii')))}"

    def known_claims(self, token: str) -> Object | None:
        """The claims of a token that was verified before."""
        return self._verified.get(token)

    def verify(self, token: str) -> Object:
        """The claims of a token that this key signed."""
        claims = self._verify(token)
        self._verified[token] = claims
        if len(self._verified) > _REMEMBERED:
            self._verified.popitem(last=False)
        return claims

    def public_key_set(self) -> Object:
        """The public half, as /openid/v1/jwks shows it."""
        return {"keys": [_public_jwk(self._key, self.algorithm, self.key_id)]}

    def _verify(self, token: str) -> Object:
        if len(token) > _LONGEST or token.count(".") != 2:
            raise TokenRefused(_BAD_SIGNATURE)
        head, payload, signature = token.split(".")
        header, claims = _json_part(head), _json_part(payload)
        if header is None or claims is None:
            raise TokenRefused(_BAD_SIGNATURE)
        if header.get("kid") not in (None, "", self.key_id):
            raise TokenRefused(_NO_KEY)
        if header.get("alg") != self.algorithm or "crit" in header:
            raise TokenRefused(_BAD_SIGNATURE)
        if not _signature_is_good(self._key, signature, f"{head}.{payload}".encode("ascii")):
            raise TokenRefused(_BAD_SIGNATURE)
        return claims


def _load(pem: bytes) -> EllipticCurvePrivateKey | RSAPrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError) as problem:
        raise SigningKeyError(f"cannot read the key that signs service account tokens: {problem}") from None
    if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP256R1):
        return key
    if isinstance(key, rsa.RSAPrivateKey) and key.key_size >= 2048:
        return key
    raise SigningKeyError("cannot sign service account tokens with a key of this kind")


def _is_elliptic(key: Any) -> bool:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

    return isinstance(key, EllipticCurvePrivateKey)


def _key_id(key: EllipticCurvePrivateKey | RSAPrivateKey) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return _encode(hashlib.sha256(public).digest())


def _signature(key: Any, signed: bytes) -> bytes:
    from cryptography.hazmat.primitives.asymmetric import ec, padding, utils
    from cryptography.hazmat.primitives.hashes import SHA256

    if not _is_elliptic(key):
        signature: bytes = key.sign(signed, padding.PKCS1v15(), SHA256())
        return signature
    r, s = utils.decode_dss_signature(key.sign(signed, ec.ECDSA(SHA256())))
    return r.to_bytes(_P256_BYTES, "big") + s.to_bytes(_P256_BYTES, "big")


def _signature_is_good(key: Any, encoded: str, signed: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec, padding, utils
    from cryptography.hazmat.primitives.hashes import SHA256

    try:
        signature = _decode(encoded)
        if not _is_elliptic(key):
            key.public_key().verify(signature, signed, padding.PKCS1v15(), SHA256())
            return True
        if len(signature) != 2 * _P256_BYTES:
            return False
        r, s = (int.from_bytes(half, "big") for half in (signature[:_P256_BYTES], signature[_P256_BYTES:]))
        key.public_key().verify(utils.encode_dss_signature(r, s), signed, ec.ECDSA(SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True


def _public_jwk(key: Any, algorithm: str, key_id: str) -> Object:
    numbers = key.public_key().public_numbers()
    jwk: Object = {"use": "sig", "kid": key_id, "alg": algorithm}
    if algorithm == "ES256":
        x, y = (_encode(number.to_bytes(_P256_BYTES, "big")) for number in (numbers.x, numbers.y))
        return {**jwk, "kty": "EC", "crv": "P-256", "x": x, "y": y}
    n, e = (
        _encode(number.to_bytes((number.bit_length() + 7) // 8, "big")) for number in (numbers.n, numbers.e)
    )
    return {**jwk, "kty": "RSA", "n": n, "e": e}
