"""Service account tokens: what they prove, and every way in which they must prove nothing."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.apiserver.auth.token_results import SigningKeyError, TokenRefused
from crossply.apiserver.auth.token_signing import SigningKey
from tests.support.apiserver.service_accounts import ISSUER, Accounts, elliptic_pem, rsa_pem

PEMS = [pytest.param(elliptic_pem, id="ES256"), pytest.param(rsa_pem, id="RS256")]


def _part(value: Any) -> str:
    data = value if isinstance(value, bytes) else orjson.dumps(value)
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _claims(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    return orjson.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


@pytest.mark.parametrize("pem", PEMS)
def test_a_token_proves_the_identity_of_the_account(pem: Callable[[], bytes]) -> None:
    accounts = Accounts(pem())
    token = accounts.issue()
    identity = accounts.tokens.authenticate(token)
    assert identity is not None
    assert identity.audiences == (ISSUER,)
    assert identity.user.name == "system:serviceaccount:a:bot"
    assert identity.user.uid == "uid-1"
    assert identity.user.groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:a",
        "system:authenticated",
    )
    extra = identity.user.extra
    assert extra == {"authentication.kubernetes.io/credential-id": (f"JTI={_claims(token)['jti']}",)}


def test_the_claims_are_those_that_kubernetes_writes() -> None:
    accounts = Accounts()
    claims = _claims(accounts.issue(audiences=("x",), pod={"name": "p", "uid": "u"}))
    assert claims["aud"] == ["x"]
    assert claims["exp"] - claims["iat"] == 3600
    assert claims["nbf"] == claims["iat"]
    assert claims["sub"] == "system:serviceaccount:a:bot"
    assert claims["kubernetes.io"] == {
        "namespace": "a",
        "serviceaccount": {"name": "bot", "uid": "uid-1"},
        "pod": {"name": "p", "uid": "u"},
    }


def _unsigned(accounts: Accounts, header: dict[str, str], signature: bytes = b"") -> str:
    return f"{_part(header)}.{accounts.issue().split('.')[1]}.{_part(signature)}"


def _confused(accounts: Accounts) -> str:
    """Signed with the public key as if it were a shared secret."""
    key = load_pem_private_key(accounts.pem, None)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)  # type: ignore[union-attr]
    signed = f"{_part({'alg': 'HS256'})}.{accounts.issue().split('.')[1]}"
    return f"{signed}.{_part(hmac.new(public, signed.encode(), hashlib.sha256).digest())}"


def _tampered(accounts: Accounts) -> str:
    head, _, signature = accounts.issue().split(".")
    claims = {**_claims(accounts.issue()), "sub": "system:serviceaccount:a:root"}
    return f"{head}.{_part(claims)}.{signature}"


def _of_another_key(accounts: Accounts, keep_id: bool) -> str:
    other = ec.generate_private_key(ec.SECP256R1())
    pem = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    foreign = SigningKey(pem)
    if keep_id:
        foreign.__dict__["key_id"] = accounts.key.key_id
    return foreign.sign(_claims(accounts.issue()))


def _with_claims(accounts: Accounts, **changed: Any) -> str:
    return accounts.key.sign({**_claims(accounts.issue()), **changed})


BAD = "go-jose/go-jose: error in cryptographic primitive"
ABUSES: list[tuple[Callable[[Accounts], str], str, str]] = [
    (lambda a: _unsigned(a, {"alg": "none"}), BAD, "no algorithm"),
    (lambda a: _unsigned(a, {"alg": "None"}), BAD, "no algorithm, in other letters"),
    (lambda a: _unsigned(a, {}), BAD, "no word of an algorithm"),
    (lambda a: _unsigned(a, {"alg": a.key.algorithm}), BAD, "the right algorithm and no signature"),
    (lambda a: _unsigned(a, {"alg": a.key.algorithm}, b"\0" * 64), BAD, "a signature of zeros"),
    (_confused, BAD, "the public key as a shared secret"),
    (_tampered, BAD, "other claims under the same signature"),
    (lambda a: _of_another_key(a, keep_id=True), BAD, "another key that calls itself ours"),
    (
        lambda a: _of_another_key(a, keep_id=False),
        "invalid signature, no keys found",
        "another key by its own name",
    ),
    (lambda a: a.issue() + "A", BAD, "a signature with something behind it"),
    (lambda a: a.issue() + "=", BAD, "a signature with padding"),
    (
        lambda a: a.issue(audiences=("vault",)),
        f'token audiences ["vault"] is invalid for the target audiences ["{ISSUER}"]',
        "a token for somebody else",
    ),
    (lambda a: a.issue(seconds=-61), "service account token has expired", "a token that has ended"),
    (lambda a: _with_claims(a, exp=None), "service account token has expired", "a token without an end"),
    (lambda a: _with_claims(a, exp="soon"), "service account token has expired", "an end that is no time"),
    (
        lambda a: _with_claims(a, nbf=_claims(a.issue())["nbf"] + 61),
        "service account token is not valid yet",
        "a token that has not begun",
    ),
    (
        lambda a: _with_claims(a, iat=_claims(a.issue())["iat"] + 61),
        "service account token is issued in the future",
        "a token from the future",
    ),
    (
        lambda a: _with_claims(a, **{"kubernetes.io": {"namespace": "a", "serviceaccount": {"name": "x"}}}),
        'serviceaccounts "x" not found',
        "an account that does not exist",
    ),
    (
        lambda a: _with_claims(a, **{"kubernetes.io": 5}),
        'serviceaccounts "" not found',
        "claims of the wrong type",
    ),
]


@pytest.mark.parametrize(("make", "message", "reason"), ABUSES, ids=[case[2] for case in ABUSES])
def test_a_token_proves_nothing(make: Callable[[Accounts], str], message: str, reason: str) -> None:
    accounts = Accounts()
    with pytest.raises(TokenRefused) as caught:
        accounts.tokens.authenticate(make(accounts))
    assert str(caught.value) == message, reason


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        ("", "nothing"),
        ("abc", "not a JWT"),
        ("a.b.c", "not base64"),
        (f"{_part({'alg': 'ES256'})}.{_part({'iss': 'https://other'})}.", "another issuer"),
        (f"{_part({'alg': 'ES256'})}.{_part([1])}.", "claims that are a list"),
        (f"{_part({'alg': 'ES256'})}.{_part(b'[' * 10_000)}.", "deep nesting"),
        ("a." + "b" * 100_000 + ".c", "very long"),
        ("é.é.é", "not ASCII"),
    ],
)
def test_a_foreign_token_is_left_to_other_authenticators(token: str, reason: str) -> None:
    assert Accounts().tokens.authenticate(token) is None, reason


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_changed_token_never_proves_anything(data: st.DataObject) -> None:
    accounts = Accounts()
    token = accounts.issue()
    at = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.sampled_from("ABab01-_.="))
    changed = token[:at] + letter + token[at + 1 :]
    if changed == token:
        return
    with contextlib.suppress(TokenRefused):
        assert accounts.tokens.authenticate(changed) is None


def test_a_token_is_checked_at_every_use() -> None:
    accounts = Accounts()
    token = accounts.issue(seconds=600)
    assert accounts.tokens.authenticate(token)
    accounts.clock.forward(659)
    assert accounts.tokens.authenticate(token), "clocks may differ by a minute"
    accounts.clock.forward(2)
    with pytest.raises(TokenRefused, match="expired"):
        accounts.tokens.authenticate(token)


def test_a_token_dies_with_its_account_and_does_not_come_back_with_a_namesake() -> None:
    accounts = Accounts()
    token = accounts.issue()
    accounts.store.remove("serviceaccounts", "a", "bot")
    with pytest.raises(TokenRefused, match="not found"):
        accounts.tokens.authenticate(token)
    accounts.store.put("serviceaccounts", "a", "bot", "uid-2")
    with pytest.raises(TokenRefused, match=r"service account UID \(uid-2\) does not match claim \(uid-1\)"):
        accounts.tokens.authenticate(token)


def test_a_token_lives_a_minute_after_its_account_is_marked_for_deletion() -> None:
    accounts = Accounts()
    token = accounts.issue()
    marked = {"deletionTimestamp": "2026-01-02T03:04:05Z"}
    accounts.store.put("serviceaccounts", "a", "bot", "uid-1", metadata=marked)
    assert accounts.tokens.authenticate(token)
    accounts.clock.forward(61)
    with pytest.raises(TokenRefused, match="service account a/bot has been deleted"):
        accounts.tokens.authenticate(token)


@pytest.mark.parametrize(("kind", "resource", "home"), [
    ("pod", "pods", "a"), ("secret", "secrets", "a"), ("node", "nodes", ""),
])  # fmt: skip
def test_a_token_expires_with_the_object_it_is_bound_to(kind: str, resource: str, home: str) -> None:
    accounts = Accounts()
    token = accounts.issue(**{kind: {"name": "x", "uid": "u1"}})
    with pytest.raises(TokenRefused, match="service account token has been invalidated"):
        accounts.tokens.authenticate(token)
    accounts.store.put(resource, home, "x", "u2")
    with pytest.raises(TokenRefused, match=rf"{kind} UID \(u2\) does not match service account {kind} ref"):
        accounts.tokens.authenticate(token)
    accounts.store.put(resource, home, "x", "u1")
    assert accounts.tokens.authenticate(token)


def test_a_pods_token_has_the_pod_and_its_node_without_reading_the_node() -> None:
    accounts = Accounts()
    accounts.store.put("pods", "a", "p", "u")
    token = accounts.issue(pod={"name": "p", "uid": "u"}, node={"name": "n"})
    identity = accounts.tokens.authenticate(token)
    assert identity is not None
    assert identity.user.extra is not None
    assert identity.user.extra["authentication.kubernetes.io/pod-name"] == ("p",)
    assert identity.user.extra["authentication.kubernetes.io/pod-uid"] == ("u",)
    assert identity.user.extra["authentication.kubernetes.io/node-name"] == ("n",)


@pytest.mark.parametrize("pem", PEMS)
def test_others_can_verify_with_the_published_key(pem: Callable[[], bytes]) -> None:
    key = SigningKey(pem())
    (published,) = key.public_key_set()["keys"]
    assert (published["kid"], published["alg"], published["use"]) == (key.key_id, key.algorithm, "sig")
    assert "d" not in published


@pytest.mark.parametrize("pem", [b"", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_an_unreadable_key_is_reported(pem: bytes) -> None:
    with pytest.raises(SigningKeyError, match="cannot read the key"):
        SigningKey(pem).sign({})


def test_a_key_on_another_curve_is_refused() -> None:
    key = ec.generate_private_key(ec.SECP384R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(SigningKeyError, match="of this kind"):
        SigningKey(pem).sign({})
