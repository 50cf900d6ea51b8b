"""Certificates are created once, stored and renewed in time; TLS uses them."""

from __future__ import annotations

import asyncio
import os
import ssl
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from crossply.apiserver.tls import (
    CertificateError,
    Certificates,
    ensure_certificates,
    reload_server_certificate,
    server_ssl_context,
    write_kubeconfig,
)
from crossply.values.yaml import load

NOW = datetime.now(UTC)


def _contents(certificates: Certificates) -> dict[str, bytes]:
    return {os.path.basename(path): Path(path).read_bytes() for path in certificates.all()}


def _changed(before: dict[str, bytes], certificates: Certificates) -> set[str]:
    after = _contents(certificates)
    return {name for name in after if after[name] != before[name]}


def _names(certificates: Certificates) -> set[str]:
    certificate = x509.load_pem_x509_certificate(Path(certificates.server).read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))}


def test_a_second_start_changes_nothing(tmp_path: Path) -> None:
    before = _contents(ensure_certificates(str(tmp_path)))
    assert not _changed(before, ensure_certificates(str(tmp_path)))


def test_keys_are_for_their_owner_only_even_after_a_chmod(tmp_path: Path) -> None:
    certificates = ensure_certificates(str(tmp_path / "pki"))
    assert os.stat(tmp_path / "pki").st_mode & 0o777 == 0o700
    for key in certificates.private():
        assert os.stat(key).st_mode & 0o777 == 0o600
    os.chmod(certificates.server_key, 0o644)
    ensure_certificates(str(tmp_path / "pki"))
    assert os.stat(certificates.server_key).st_mode & 0o777 == 0o600


def test_other_names_give_another_server_certificate_of_the_same_authority(tmp_path: Path) -> None:
    certificates = ensure_certificates(str(tmp_path))
    before = _contents(certificates)
    ensure_certificates(str(tmp_path), ["cp.example.org", "10.0.0.1"])
    assert _changed(before, certificates) == {"server.crt", "server.key"}
    assert _names(certificates) >= {"localhost", "127.0.0.1", "::1", "cp.example.org", "10.0.0.1"}


RENEWALS: list[tuple[timedelta, set[str], str]] = [
    (timedelta(days=300), set(), "far from the end"),
    (
        timedelta(days=340),
        {"server.crt", "server.key", "admin.crt", "admin.key"},
        "near the end of the certificates",
    ),
    (
        timedelta(days=3300),
        {"ca.crt", "ca.key", "server.crt", "server.key", "admin.crt", "admin.key"},
        "near the end of the authority",
    ),
]


@pytest.mark.parametrize(("later", "changed", "reason"), RENEWALS, ids=[case[2] for case in RENEWALS])
def test_certificates_are_renewed_in_time(
    tmp_path: Path, later: timedelta, changed: set[str], reason: str
) -> None:
    before = _contents(ensure_certificates(str(tmp_path), now=NOW))
    assert _changed(before, ensure_certificates(str(tmp_path), now=NOW + later)) == changed, reason


LOSSES = [
    ("server.key", {"server.crt", "server.key"}, "a lost key takes its certificate along"),
    ("service-accounts.key", {"service-accounts.key"}, "tokens get a new key"),
    (
        "ca.key",
        {"ca.crt", "ca.key", "server.crt", "server.key", "admin.crt", "admin.key"},
        "a lost authority takes everything along that it signed",
    ),
]


@pytest.mark.parametrize(("lost", "changed", "reason"), LOSSES, ids=[case[2] for case in LOSSES])
def test_missing_files_are_recreated(tmp_path: Path, lost: str, changed: set[str], reason: str) -> None:
    before = _contents(ensure_certificates(str(tmp_path)))
    (tmp_path / lost).unlink()
    assert _changed(before, ensure_certificates(str(tmp_path))) == changed, reason


def test_a_lost_or_broken_record_costs_nothing_but_a_look(tmp_path: Path) -> None:
    before = _contents(ensure_certificates(str(tmp_path)))
    for text in ("", "{", "[]", "{}"):
        (tmp_path / "certificates.json").write_text(text)
        assert not _changed(before, ensure_certificates(str(tmp_path)))


def test_a_file_that_is_no_certificate_is_reported(tmp_path: Path) -> None:
    ensure_certificates(str(tmp_path))
    (tmp_path / "server.crt").write_text("nonsense")
    with pytest.raises(CertificateError, match=r"cannot read .*server\.crt"):
        ensure_certificates(str(tmp_path))


def test_an_invalid_host_name_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CertificateError, match="neither a DNS name nor an IP address"):
        ensure_certificates(str(tmp_path), ["gr\u00fc\u00dfe"])


def test_existing_certificates_load_without_cryptography(tmp_path: Path) -> None:
    ensure_certificates(str(tmp_path))
    code = (
        "import sys; from crossply.apiserver.tls import ensure_certificates, server_ssl_context;"
        f"server_ssl_context(ensure_certificates({str(tmp_path)!r})); print('cryptography' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


def test_both_starts_are_quick(tmp_path: Path) -> None:
    start = time.process_time()
    ensure_certificates(str(tmp_path))
    first = time.process_time()
    server_ssl_context(ensure_certificates(str(tmp_path)))
    assert first - start < 0.15
    assert time.process_time() - first < 0.05


def _client_context(certificates: Certificates, pair: tuple[str, str] | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=certificates.authority)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    if pair:
        context.load_cert_chain(*pair)
    return context


async def _peer_certificate(server: ssl.SSLContext, client: ssl.SSLContext, host: str = "localhost") -> Any:
    """What the server sees of a client that connects."""
    observed: list[Any] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        observed.append(writer.get_extra_info("ssl_object").getpeercert(True))
        writer.write(b"hello")
        writer.close()

    listener = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=server)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client, server_hostname=host)
        try:
            if await reader.read() != b"hello":
                raise ConnectionError("the server hung up")
        finally:
            writer.close()
    return observed[0]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "kubernetes.default.svc"])
async def test_clients_trust_the_server_by_its_local_names(tmp_path: Path, host: str) -> None:
    certificates = ensure_certificates(str(tmp_path))
    context = server_ssl_context(certificates)
    assert await _peer_certificate(context, _client_context(certificates), host) is None


async def test_clients_do_not_trust_it_by_others(tmp_path: Path) -> None:
    certificates = ensure_certificates(str(tmp_path))
    with pytest.raises(ssl.SSLCertVerificationError):
        await _peer_certificate(
            server_ssl_context(certificates), _client_context(certificates), "example.org"
        )


async def test_a_client_certificate_of_the_authority_authenticates(tmp_path: Path) -> None:
    certificates = ensure_certificates(str(tmp_path))
    client = _client_context(certificates, (certificates.admin, certificates.admin_key))
    der = await _peer_certificate(server_ssl_context(certificates), client)
    subject = x509.load_der_x509_certificate(der).subject
    assert [attribute.value for attribute in subject] == ["system:masters", "crossply-admin"]


@pytest.mark.parametrize("kind", ["another authority", "a server certificate"])
async def test_a_client_certificate_that_proves_nothing_ends_the_connection(
    tmp_path: Path, kind: str
) -> None:
    certificates = ensure_certificates(str(tmp_path / "ours"))
    foreign = ensure_certificates(str(tmp_path / "theirs"))
    pair = (
        (foreign.admin, foreign.admin_key)
        if kind == "another authority"
        else (certificates.server, certificates.server_key)
    )
    with pytest.raises((ssl.SSLError, OSError)):
        await _peer_certificate(server_ssl_context(certificates), _client_context(certificates, pair))


async def test_a_renewed_certificate_is_shown_to_later_clients(tmp_path: Path) -> None:
    certificates = ensure_certificates(str(tmp_path))
    context = server_ssl_context(certificates)
    ensure_certificates(str(tmp_path), ["example.org"])
    reload_server_certificate(context, certificates)
    await _peer_certificate(context, _client_context(certificates), "example.org")


def test_a_kubeconfig_holds_the_authority_and_a_credential_and_is_private(tmp_path: Path) -> None:
    certificates = ensure_certificates(str(tmp_path / "pki"))
    path = tmp_path / "new" / "kubeconfig"
    write_kubeconfig(str(path), "https://127.0.0.1:6443", certificates)
    assert os.stat(path).st_mode & 0o777 == 0o600
    written = load(path.read_text())
    assert written["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:6443"
    assert set(written["users"][0]["user"]) == {"client-certificate-data", "client-key-data"}
    assert written["current-context"] == written["contexts"][0]["name"]
    write_kubeconfig(str(path), "https://127.0.0.1:6443", certificates, token="t")
    assert load(path.read_text())["users"][0]["user"] == {"token": "t"}
