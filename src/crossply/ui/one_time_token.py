"""Tokens that open one session each: a process with the key can create them, the dashboard redeems each once.

`crossply up` makes one for the address that it prints, and another on each request, without
talking to the process that serves the dashboard.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

KEY_BYTES = 32
_NONCE_BYTES = 16


def mint_token(key: bytes) -> str:
    """A token that cannot be guessed or created without the key."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return base64.urlsafe_b64encode(nonce + _signature(key, nonce)).rstrip(b"=").decode()


class TokenRedeemer:
    """Remembers which tokens were used."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._used: set[bytes] = set()

    def redeem(self, token: str) -> bool:
        """Whether the token is genuine and is used for the first time."""
        try:
            data = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except ValueError:
            return False
        nonce, signature = data[:_NONCE_BYTES], data[_NONCE_BYTES:]
        if not hmac.compare_digest(signature, _signature(self._key, nonce)) or nonce in self._used:
            return False
        self._used.add(nonce)
        return True


def _signature(key: bytes, nonce: bytes) -> bytes:
    return hmac.new(key, nonce, hashlib.sha256).digest()
