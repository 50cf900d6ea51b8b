"""Service account tokens: signed by the server, valid as long as the objects that they are bound to exist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import orjson

from crossply.apiserver.auth.rbac.rules import quoted
from crossply.apiserver.auth.store_protocols import Key, ReadableStore
from crossply.apiserver.auth.system_users_and_groups import (
    CREDENTIAL_ID,
    NODE_NAME,
    NODE_UID,
    POD_NAME,
    POD_UID,
    account_groups,
    account_username,
    authenticated,
)
from crossply.apiserver.auth.token_results import TokenIdentity, TokenRefused
from crossply.apiserver.auth.token_signing import SigningKey, unverified_issuer
from crossply.apiserver.endpoints.request_info import User
from crossply.values import Object

ISSUER = "https://kubernetes.default.svc.cluster.local"
_LEEWAY = 60
"""Seconds by which clocks may differ, and for which tokens of a deleted object stay valid."""
_INVALIDATED = "service account token has been invalidated"


class AccountTokens:
    """Issues and verifies service account tokens."""

    def __init__(
        self,
        store: ReadableStore,
        key: SigningKey,
        clock: Callable[[], datetime],
        issuer: str = ISSUER,
        audiences: Sequence[str] = (),
    ) -> None:
        self._store = store
        self._key = key
        self._clock = clock
        self.issuer = issuer
        self.audiences = tuple(audiences) or (issuer,)
        """The server's own audiences."""
        self._metadata: dict[Key, tuple[int, Object]] = {}

    def issue(self, account: Object, seconds: int, audiences: Sequence[str], bound: Object) -> str:
        """A token for a service account; `bound` are claims such as {"pod": {"name": …, "uid": …}}."""
        now = int(self._clock().timestamp())
        metadata = account["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        claims: Object = {
            "aud": list(audiences),
            "exp": now + seconds,
            "iat": now,
            "iss": self.issuer,
            "jti": str(uuid4()),
            "kubernetes.io": {
                "namespace": namespace,
                "serviceaccount": {"name": name, "uid": metadata["uid"]},
                **bound,
            },
            "nbf": now,
            "sub": account_username(namespace, name),
        }
        return self._key.sign(claims)

    def authenticate(self, token: str, audiences: Sequence[str] = ()) -> TokenIdentity | None:
        """The identity of a token; None if another issuer made it. Raises TokenRefused if it is invalid."""
        claims = self._claims(token)
        if claims is None:
            return None
        expected = tuple(audiences) or self.audiences
        token_audiences = _audiences(claims) or self.audiences
        shared = tuple(audience for audience in token_audiences if audience in expected)
        if not shared:
            raise TokenRefused(
                f"token audiences {quoted(token_audiences)} is invalid for the target audiences "
                f"{quoted(expected)}"
            )
        now = self._clock()
        _check_times(claims, now.timestamp())
        return TokenIdentity(self._user(claims, now), shared)

    def _claims(self, token: str) -> Object | None:
        """The claims of a token that this server signed; None if another issuer made it."""
        known = self._key.known_claims(token)
        if known is None and unverified_issuer(token) != self.issuer:
            return None
        claims = known or self._key.verify(token)
        return claims if claims.get("iss") == self.issuer else None

    def _user(self, claims: Object, now: datetime) -> User:
        private = _mapping(claims.get("kubernetes.io"))
        namespace, account = _text(private.get("namespace")), _mapping(private.get("serviceaccount"))
        name = _text(account.get("name"))
        self._require_account(namespace, name, account, now)
        self._require_bound("secrets", namespace, private.get("secret"), now)
        self._require_bound("pods", namespace, private.get("pod"), now)
        if not private.get("pod"):
            self._require_bound("nodes", "", private.get("node"), now)
        return authenticated(
            User(
                account_username(namespace, name),
                account_groups(namespace),
                uid=_text(account.get("uid")),
                extra=_extra(claims, private),
            )
        )

    def _require_account(self, namespace: str, name: str, claimed: Object, now: datetime) -> None:
        metadata = self._find(("serviceaccounts", namespace, name))
        if metadata is None:
            raise TokenRefused(f'serviceaccounts "{name}" not found')
        if metadata.get("uid") != claimed.get("uid"):
            raise TokenRefused(
                f"service account UID ({metadata.get('uid')}) does not match claim ({claimed.get('uid')})"
            )
        if _is_deleted(metadata, now):
            raise TokenRefused(f"service account {namespace}/{name} has been deleted")

    def _require_bound(self, resource: str, namespace: str, claimed: Any, now: datetime) -> None:
        if not claimed:
            return
        reference = _mapping(claimed)
        metadata = self._find((resource, namespace, _text(reference.get("name"))))
        if metadata is None or _is_deleted(metadata, now):
            raise TokenRefused(_INVALIDATED)
        if metadata.get("uid") != reference.get("uid"):
            kind = resource.removesuffix("s")
            raise TokenRefused(
                f"{kind} UID ({metadata.get('uid')}) does not match service account {kind} ref claim "
                f"({reference.get('uid')})"
            )

    def _find(self, key: Key) -> Object | None:
        """The metadata of an object, parsed once per revision."""
        entry = self._store.get(key)
        if entry is None:
            self._metadata.pop(key, None)
            return None
        known = self._metadata.get(key)
        if known is None or known[0] != entry.revision:
            if len(self._metadata) > 4096:
                self._metadata.clear()
            known = self._metadata[key] = (entry.revision, orjson.loads(entry.data)["metadata"])
        return known[1]


def _audiences(claims: Object) -> tuple[str, ...]:
    audiences = claims.get("aud")
    if isinstance(audiences, str):
        return (audiences,)
    return tuple(item for item in audiences if isinstance(item, str)) if isinstance(audiences, list) else ()


def _check_times(claims: Object, now: float) -> None:
    expiry, start, issued = (_number(claims.get(claim)) for claim in ("exp", "nbf", "iat"))
    if expiry is None or now - _LEEWAY > expiry:
        raise TokenRefused("service account token has expired")
    if start is not None and now + _LEEWAY < start:
        raise TokenRefused("service account token is not valid yet")
    if issued is not None and now + _LEEWAY < issued:
        raise TokenRefused("service account token is issued in the future")


def _is_deleted(metadata: Object, now: datetime) -> bool:
    stamp = metadata.get("deletionTimestamp")
    return stamp is not None and datetime.fromisoformat(stamp) < now - timedelta(seconds=_LEEWAY)


def _extra(claims: Object, private: Object) -> dict[str, tuple[str, ...]]:
    pod, node = _mapping(private.get("pod")), _mapping(private.get("node"))
    values = {
        CREDENTIAL_ID: f"JTI={claims['jti']}" if claims.get("jti") else "",
        NODE_NAME: node.get("name"),
        NODE_UID: node.get("uid"),
        POD_NAME: pod.get("name"),
        POD_UID: pod.get("uid"),
    }
    return {key: (value,) for key, value in values.items() if value}


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _mapping(value: Any) -> Object:
    return value if isinstance(value, dict) else {}
