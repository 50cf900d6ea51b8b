"""Passwords of roles: generated, and compared with what the server keeps of them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from functools import lru_cache

GENERATED_BYTES = 24


def generate_password() -> str:
    """A password of letters, digits, - and _, which needs no quoting in URLs."""
    return secrets.token_urlsafe(GENERATED_BYTES)


@lru_cache(maxsize=4096)
def matches_verifier(password: str, verifier: str, role: str) -> bool | None:
    """Whether a verifier of pg_authid was made from a password; None where that cannot be told."""
    if verifier.startswith("md5"):
        digest = hashlib.md5(password.encode() + role.encode(), usedforsecurity=False).hexdigest()
        return hmac.compare_digest(verifier, f"md5{digest}")
    if not verifier.startswith("SCRAM-SHA-256$") or not password.isascii():
        return None  # libpq normalises other characters (RFC 4013)
    try:
        _, parameters, keys = verifier.split("$")
        iterations, salt = parameters.split(":")
        salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(salt), int(iterations))
        stored_key = base64.b64decode(keys.split(":")[0])
    except (ValueError, binascii.Error):
        return None
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    return hmac.compare_digest(hashlib.sha256(client_key).digest(), stored_key)
