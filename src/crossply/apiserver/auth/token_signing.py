"""JSON Web Tokens signed with the server's own key: ES256 for an elliptic key, RS256 for an RSA key.

The key decides the algorithm, never the token: a header with `none`, `HS256` or anything else than the key's
own algorithm is refused before its signature is verified. PyJWT signs and verifies; it is loaded with the
first token of this issuer.
"""

from __future__ import annotations

import base64
import hashlib
from collections import OrderedDict
from functools import cached_property
from typing import TYPE_CHECKING

import orjson

from crossply.apiserver.auth.token_results import SigningKeyError, TokenRefused
from crossply.values import Object

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from jwt import PyJWS

_NO_KEY = "invalid signature, no keys found"
_BAD_SIGNATURE = "go-jose/go-jose: error in cryptographic primitive"
_MOST_CACHED = 2048
_LONGEST = 16_384


def unverified_issuer(token: str) -> str | None:
    """The issuer that a token claims to have; None if it is not a JWT. Never a reason to trust it."""
    parts = token.split(".")
    if len(parts) != 3 or len(token) > _LONGEST:
        return None
    try:
        padded = parts[1] + "=" * (-len(parts[1]) % 4)
        claims = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except ValueError:
        return None
    issuer = claims.get("iss") if isinstance(claims, dict) else None
    return issuer if isinstance(issuer, str) else None


class SigningKey:
    """Signs tokens, and verifies its own. The key is loaded on first use."""

    def __init__(self, pem: bytes) -> None:
        self._pem = pem
        # Claims of tokens with a verified signature. What else makes a token valid changes with time and is
        # checked at every use; that this key signed it does not.
        self._verified: OrderedDict[str, Object] = OrderedDict()

    @cached_property
    def _key(self) -> EllipticCurvePrivateKey | RSAPrivateKey:
        return _load(self._pem)

    @cached_property
    def algorithm(self) -> str:
        """The only algorithm that this key is used with."""
        from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

        return "ES256" if isinstance(self._key, EllipticCurvePrivateKey) else "RS256"

    @cached_property
    def key_id(self) -> str:
        """The `kid` in the header of its tokens."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        public = self._key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return base64.urlsafe_b64encode(hashlib.sha256(public).digest()).rstrip(b"=").decode()

    def sign(self, claims: Object) -> str:
        payload = orjson.dumps(claims, option=orjson.OPT_SORT_KEYS)
        return self._jws.encode(payload, self._key, self.algorithm, {"kid": self.key_id, "typ": ""})

    def known_claims(self, token: str) -> Object | None:
        """The claims of a token that was verified before, or None."""
        return self._verified.get(token)

    def verify(self, token: str) -> Object:
        """The claims of a token that this key signed; raises TokenRefused."""
        claims = self._verify(token)
        self._verified[token] = claims
        if len(self._verified) > _MOST_CACHED:
            self._verified.popitem(last=False)
        return claims

    def public_key_set(self) -> Object:
        """The public key as the JSON Web Key Set at /openid/v1/jwks."""
        algorithm = self._jws.get_algorithm_by_name(self.algorithm)
        jwk = algorithm.to_jwk(self._key.public_key(), as_dict=True)
        jwk.pop("key_ops", None)
        return {"keys": [{"use": "sig", "kid": self.key_id, "alg": self.algorithm, **jwk}]}

    @cached_property
    def _jws(self) -> PyJWS:
        from jwt import PyJWS

        return PyJWS(["ES256", "RS256"])

    def _verify(self, token: str) -> Object:
        from jwt import PyJWTError

        # PyJWT accepts padding, which would give a token several spellings.
        if len(token) > _LONGEST or token.count(".") != 2 or "=" in token:
            raise TokenRefused(_BAD_SIGNATURE)
        try:
            header = self._jws.get_unverified_header(token)
            if header.get("kid") not in (None, "", self.key_id):
                raise TokenRefused(_NO_KEY)
            if "crit" in header:
                raise TokenRefused(_BAD_SIGNATURE)
            claims = orjson.loads(self._jws.decode(token, self._key.public_key(), [self.algorithm]))
        except (PyJWTError, ValueError, TypeError):
            raise TokenRefused(_BAD_SIGNATURE) from None
        if not isinstance(claims, dict):
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
