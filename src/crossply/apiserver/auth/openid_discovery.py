"""OpenID discovery: the issuer of service account tokens, and the keys that verify them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import orjson

from crossply.apiserver.auth.token_signing import SigningKey
from crossply.apiserver.endpoints.replies import Reply
from crossply.apiserver.endpoints.request_info import RequestInfo
from crossply.apiserver.server_context import ServerContext

_KEYS_TYPE = "application/jwk-set+json"


class OpenIdPages:
    CONFIGURATION = "/.well-known/openid-configuration"
    KEYS = "/openid/v1/jwks"

    def __init__(self, issuer: str, key: SigningKey, address: Callable[[], str]) -> None:
        self._issuer = issuer
        self._key = key
        self._address = address

    async def page(self, context: ServerContext, info: RequestInfo, headers: Mapping[str, str]) -> Reply:
        """The configuration, or the keys."""
        if info.path.rstrip("/") == self.KEYS:
            return Reply(200, orjson.dumps(self._key.public_key_set()), _KEYS_TYPE)
        return Reply(200, orjson.dumps(self._configuration()))

    def _configuration(self) -> dict[str, object]:
        return {
            "issuer": self._issuer,
            "jwks_uri": f"{self._address()}{self.KEYS}",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [self._key.algorithm],
        }
