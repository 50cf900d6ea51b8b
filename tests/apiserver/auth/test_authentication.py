"""Authentication of requests."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_pem_x509_certificate

from crossply.apiserver.auth.authentication import Authenticator, anonymous_for
from crossply.apiserver.auth.static_tokens import StaticTokens, read_token_file
from crossply.apiserver.auth.token_results import TokenFileError, TokenRefused
from crossply.apiserver.endpoints.request_info import User
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.tls import ensure_certificates
from tests.support.apiserver.service_accounts import ISSUER, START, Accounts

JANE = User("jane", ("dev",), "u1")
DICT = {
    "subject": (
        (("organizationName", "dev"),),
        (("organizationName", "ops"),),
        (("commonName", "jane"),),
    ),
    "notBefore": "Jan  1 00:00:00 2026 GMT",
    "notAfter": "Jan  3 00:00:00 2026 GMT",
}


def _authenticate(
    accounts: Accounts, peer: bytes | dict[str, Any] | None = None, authorization: str = ""
) -> User | None:
    authenticator = Authenticator(accounts.clock, StaticTokens({"secret": JANE}), accounts.tokens)
    headers = {"Authorization": authorization} if authorization else {}
    return asyncio.run(authenticator.authenticate(peer, headers))


def test_a_static_token_is_its_user_and_authenticated() -> None:
    assert _authenticate(Accounts(), authorization="Bearer secret") == User(
        "jane", ("dev", "system:authenticated"), "u1"
    )


def test_a_service_account_token_is_its_account() -> None:
    accounts = Accounts()
    user = _authenticate(accounts, authorization=f"Bearer {accounts.issue()}")
    assert user is not None
    assert user.name == "system:serviceaccount:a:bot"


@pytest.mark.parametrize("scheme", ["bearer", "BEARER"])
def test_the_scheme_may_be_in_any_letters(scheme: str) -> None:
    assert _authenticate(Accounts(), authorization=f"{scheme} secret")


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("", "no header"),
        ("Bearer", "no token"),
        ("Bearer ", "an empty token"),
        ("Basic c2VjcmV0", "another scheme is not ours to judge"),
        ("secret", "no scheme"),
    ],
)
def test_without_a_credential_a_request_is_anonymous(header: str, reason: str) -> None:
    assert _authenticate(Accounts(), authorization=header) is None, reason


@pytest.mark.parametrize("token", ["Secret", "secretx", "secre", "a.b.c", "\udcff"])
def test_a_wrong_token_is_not_authorized(token: str) -> None:
    with pytest.raises(StatusError) as caught:
        _authenticate(Accounts(), authorization=f"Bearer {token}")
    assert (caught.value.status, str(caught.value)) == (401, "Unauthorized")


def test_the_reason_of_a_refused_token_is_not_sent_to_the_client() -> None:
    accounts = Accounts()
    with pytest.raises(StatusError) as caught:
        _authenticate(accounts, authorization=f"Bearer {accounts.issue(seconds=-100)}")
    assert str(caught.value) == "Unauthorized"


def test_a_client_certificate_is_its_common_name_and_organizations() -> None:
    assert _authenticate(Accounts(), peer=DICT) == User("jane", ("dev", "ops", "system:authenticated"))


def test_a_certificate_comes_before_a_token_and_a_bad_token_does_not_spoil_it() -> None:
    for token in ("secret", "wrong"):
        user = _authenticate(Accounts(), DICT, f"Bearer {token}")
        assert user is not None
        assert user.groups == ("dev", "ops", "system:authenticated")


def test_a_certificate_that_expires_while_connected_is_not_authorized_but_a_token_is() -> None:
    accounts = Accounts()
    accounts.clock.forward(86_400)
    with pytest.raises(StatusError, match="Unauthorized"):
        _authenticate(accounts, peer=DICT)
    assert _authenticate(accounts, DICT, "Bearer secret")


def test_a_certificate_without_a_common_name_is_anonymous() -> None:
    assert _authenticate(Accounts(), peer={**DICT, "subject": ((("organizationName", "dev"),),)}) is None


def test_an_unreadable_certificate_is_anonymous() -> None:
    assert _authenticate(Accounts(), peer=b"\x30\x00") is None


def test_a_certificate_in_binary_form_also_has_a_fingerprint(tmp_path: Path) -> None:
    certificates = ensure_certificates(str(tmp_path), now=START)
    der = load_pem_x509_certificate(Path(certificates.admin).read_bytes()).public_bytes(Encoding.DER)
    user = _authenticate(Accounts(), peer=der)
    assert user is not None
    assert (user.name, user.groups) == ("crossply-admin", ("system:masters", "system:authenticated"))
    assert user.extra is not None
    assert user.extra["authentication.kubernetes.io/credential-id"][0].startswith("X509SHA256=")


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/version", "/version/"])
def test_health_and_version_are_open_to_all(path: str) -> None:
    assert anonymous_for(path) == User("system:anonymous", ("system:unauthenticated",))


@pytest.mark.parametrize("path", ["/", "/api", "/metrics", "/healthz/etcd", "/versions", "/openapi/v2", ""])
def test_anything_else_is_not(path: str) -> None:
    with pytest.raises(StatusError) as caught:
        anonymous_for(path)
    assert caught.value.status == 401


def test_a_static_token_is_meant_for_the_server_alone() -> None:
    accounts = Accounts()
    authenticator = Authenticator(accounts.clock, StaticTokens({"secret": JANE}), accounts.tokens)
    assert authenticator.authenticate_token("secret").audiences == (ISSUER,)
    assert authenticator.authenticate_token("secret", [ISSUER, "x"]).audiences == (ISSUER,)
    with pytest.raises(TokenRefused, match=r"^invalid bearer token$"):
        authenticator.authenticate_token("secret", ["x"])


def test_the_administrators_token_is_a_master() -> None:
    tokens = StaticTokens()
    tokens.add_administrator("t")
    result = tokens.find("t")
    assert result is not None
    assert "system:masters" in result.groups


def test_tokens_are_not_stored_in_clear() -> None:
    tokens = StaticTokens({"a-long-secret": JANE})
    assert "a-long-secret" not in repr(vars(tokens))


def test_a_token_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "tokens.csv"
    file.write_text('t1,jane,u1,"dev,ops"\nt2,joe,u2\n\n,empty,u3\nt4,ann,u4,dev,more\n')
    assert read_token_file(str(file)) == {
        "t1": User("jane", ("dev", "ops"), "u1"),
        "t2": User("joe", (), "u2"),
        "t4": User("ann", ("dev",), "u4"),
    }


def test_an_unreadable_token_file_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "tokens.csv"
    with pytest.raises(TokenFileError, match="cannot read token file"):
        read_token_file(str(file))
    file.write_text("t1,jane\n")
    with pytest.raises(TokenFileError, match=r"must have at least 3 columns .* found 2"):
        read_token_file(str(file))
    file.write_bytes(b"\xff\xfe\n")
    with pytest.raises(TokenFileError, match="cannot read token file"):
        read_token_file(str(file))
