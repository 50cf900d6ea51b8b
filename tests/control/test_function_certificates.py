"""Certificates for functions and their callers: created once, shared, stored, renewed with an overlap."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509

from crossply.certificates import FOR_CLIENTS, FOR_SERVERS, names_of, was_issued_by
from crossply.control.replica_shared_secret import files_of
from crossply.control.runtimes.certificate_authority import (
    Lifetimes,
    is_from_another,
    issued,
    purpose_for,
    read_authorities,
    read_bundle,
    renew_authority,
    renew_certificate,
)
from crossply.control.runtimes.mutual_tls_certificates import Credentials, CredentialSettings
from crossply.control.runtimes.private_files import PrivateFiles
from crossply.kube.core_kinds import SECRET
from tests.support.control.crossplane_certificates import certificate_of_crossplane, files_of_crossplane

pytestmark = pytest.mark.xdist_group("packages")

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LIVES = Lifetimes()
YEAR = timedelta(days=365)
SERVER = purpose_for(FOR_SERVERS, ("fn", "fn.home", "fn.home.svc"))


def authority_at(*moments, files=None):
    """The files of an authority that was looked at in these moments."""
    files = files or {}
    for time in moments:
        changes = renew_authority(files, time, LIVES)
        files = {key: value for key, value in {**files, **(changes or {})}.items() if value}
    return files


def signer(files):
    return x509.load_pem_x509_certificate(files["tls.crt"])


def test_an_authority_is_created_once_and_reused():
    files = authority_at(NOW)
    assert renew_authority(files, NOW + YEAR, LIVES) is None
    assert names_of(signer(files)) == ("crossplane-root-ca",)


def test_a_new_authority_is_trusted_long_before_it_signs_and_the_old_one_long_after():
    first = authority_at(NOW)
    announced = authority_at(NOW + YEAR * 7, files=first)
    assert announced["tls.crt"] == first["tls.crt"], "those who did not hear of the new one trust this one"
    assert len(read_bundle(announced)) == 2
    promoted = authority_at(NOW + YEAR * 9, files=announced)
    assert promoted["tls.crt"] == announced["next.crt"]
    assert "next.key" not in promoted
    assert signer(first) in read_bundle(promoted), "certificates by the old one are still around"
    authorities = read_authorities(promoted, NOW + YEAR * 11)
    assert authorities is not None
    assert authorities.trusted == (signer(promoted),), "who has ended is not trusted any more"


def test_an_authority_that_expired_unattended_is_replaced_by_the_announced_one():
    announced = authority_at(NOW, NOW + YEAR * 7)
    late = authority_at(NOW + YEAR * 10, files=announced)
    assert late["tls.crt"] == announced["next.crt"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"tls.crt": b"x"}, "it is no certificate"),
        ({"tls.key": b""}, "nobody can sign without it"),
        ({"tls.key": authority_at(NOW)["tls.key"]}, "it is the key of another one"),
    ],
)
def test_an_authority_that_cannot_sign_is_replaced(change, why):
    files = {**authority_at(NOW), **change}
    assert renew_authority(files, NOW, LIVES) is not None, why


def test_a_certificate_is_for_its_names_and_by_the_authority():
    authorities = read_authorities(authority_at(NOW), NOW)
    files = issued(SERVER, authorities, NOW, LIVES)
    assert names_of(signer(files)) == SERVER.names
    assert was_issued_by(signer(files), authorities.signing.certificate)
    assert renew_certificate(files, SERVER, authorities, NOW, LIVES) is None


def test_a_certificate_never_outlives_its_authority():
    files = authority_at(NOW)
    authorities = read_authorities(files, NOW + YEAR * 9.5)
    late = issued(SERVER, authorities, NOW + YEAR * 9.5, LIVES)
    assert signer(late).not_valid_after_utc == signer(files).not_valid_after_utc


@pytest.mark.parametrize(
    ("purpose", "after", "expected", "why"),
    [
        (SERVER, YEAR * 0.5, set(), "it has a long way to go"),
        (SERVER, YEAR * 0.7, {"ca.crt", "tls.crt", "tls.key"}, "it is renewed long before it ends"),
        (purpose_for(FOR_SERVERS, ("other",)), YEAR * 0, {"ca.crt", "tls.crt", "tls.key"}, "other names"),
        (purpose_for(FOR_SERVERS, ("fn",)), YEAR * 0, set(), "some of its names will do"),
    ],
)
def test_a_certificate_is_renewed_in_time_and_for_new_names(purpose, after, expected, why):
    authorities = read_authorities(authority_at(NOW), NOW)
    files = issued(SERVER, authorities, NOW, LIVES)
    assert set(renew_certificate(files, purpose, authorities, NOW + after, LIVES) or {}) == expected, why


def test_an_announced_authority_changes_whom_to_trust_and_not_the_certificate():
    first = authority_at(NOW)
    later = NOW + YEAR * 7
    files = issued(SERVER, read_authorities(first, later), later, LIVES)
    authorities = read_authorities(authority_at(later, files=first), later)
    assert set(renew_certificate(files, SERVER, authorities, later, LIVES)) == {"ca.crt"}


def test_an_authority_of_crossplane_stays_and_signs_for_us():
    authority = certificate_of_crossplane(("crossplane-root-ca",), now=NOW)
    files = files_of_crossplane(authority)
    assert renew_authority(files, NOW, LIVES) is None, "what is good stays as it is"
    authorities = read_authorities(files, NOW)
    assert was_issued_by(signer(issued(SERVER, authorities, NOW, LIVES)), authority[0])


@pytest.mark.parametrize(
    ("usage", "names", "reason"),
    [
        (FOR_SERVERS, ("fn", "fn.home", "fn.home.svc"), "a function's"),
        (FOR_CLIENTS, ("crossplane.crossplane-system",), "its own, whatever our service account is called"),
    ],
)
def test_a_certificate_of_crossplane_is_used_as_it_is(usage, names, reason):
    authority = certificate_of_crossplane(("crossplane-root-ca",), now=NOW)
    certificate = certificate_of_crossplane(names, usage, authority, NOW)
    files = files_of_crossplane(certificate, authority)
    authorities = read_authorities(files_of_crossplane(authority), NOW)
    expected = purpose_for(usage, ("fn.home",) if usage == FOR_SERVERS else ("crossply.home",))
    assert renew_certificate(files, expected, authorities, NOW + YEAR, LIVES) is None, reason
    assert is_from_another(files)
    assert not is_from_another(issued(expected, authorities, NOW, LIVES))


def test_crossplane_can_read_the_key_of_our_authority():
    """It reads RSA keys in PKCS #1 and no others."""
    files = authority_at(NOW)
    assert files["tls.key"].startswith(b"-----BEGIN RSA PRIVATE KEY-----")
    assert not is_from_another({**files, **issued(SERVER, read_authorities(files, NOW), NOW, LIVES)})


def test_a_new_authority_after_crossplanes_is_announced_and_its_certificate_stays():
    authority = certificate_of_crossplane(("crossplane-root-ca",), now=NOW)
    late = NOW + YEAR * 7
    files = authority_at(late, files=files_of_crossplane(authority))
    authorities = read_authorities(files, late)
    assert [signing.certificate for signing in (authorities.signing,)] == [authority[0]]
    assert len(authorities.trusted) == 2
    new_files = files_of_crossplane(
        certificate_of_crossplane(("fn.home",), FOR_SERVERS, authority, NOW + YEAR), authority
    )
    changes = renew_certificate(new_files, purpose_for(FOR_SERVERS, ("fn.home",)), authorities, late, LIVES)
    assert set(changes) == {"ca.crt"}, "who trusts both can be called by either"


def test_files_are_ours_alone_and_replaced_all_at_once():
    files = PrivateFiles()
    try:
        files.replace({"tls.key": b"1"})
        before = os.path.realpath(files.directory)
        files.replace({"tls.key": b"2"})
        path = os.path.join(files.directory, "tls.key")
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(os.path.realpath(files.directory)).st_mode) == 0o700
        assert stat.S_IMODE(os.stat(os.path.dirname(files.directory)).st_mode) == 0o700
        with open(path, "rb") as new, open(os.path.join(before, "tls.key"), "rb") as old:
            assert (new.read(), old.read()) == (b"2", b"1"), "who is reading the old ones can go on"
    finally:
        files.remove()
    assert not os.path.exists(os.path.dirname(files.directory))


@contextlib.asynccontextmanager
async def replicas(client, ns, *clocks):
    async with contextlib.AsyncExitStack() as stack:
        members = [Credentials(client, CredentialSettings(ns), clock) for clock in clocks]
        for replica in members:
            stack.push_async_callback(replica.stop)
        await asyncio.gather(*(replica.start() for replica in members))
        yield members


def shown_by(credentials):
    with open(os.path.join(credentials.directory, "tls.crt"), "rb") as file:
        return file.read()


async def test_replicas_that_start_at_once_show_the_same_certificate(client, ns):
    now = datetime.now(UTC)
    async with replicas(client, ns, *[lambda: now] * 3) as members:
        shown = {shown_by(replica) for replica in members}
    secret = files_of(await client.get(SECRET, "crossplane-tls-client", ns))
    assert shown == {secret["tls.crt"]}
    names = names_of(x509.load_pem_x509_certificate(secret["tls.crt"]))
    assert names == (f"crossplane.{ns}",)


async def test_certificates_that_are_good_cost_no_write(client, ns):
    now = datetime.now(UTC)
    async with replicas(client, ns, lambda: now) as [first]:
        await first.ensure_server("fn-tls-server", SERVER.names)
        before = {key: value for key, value in client.counts.items() if key[0] in ("create", "update")}
        await first.ensure_server("fn-tls-server", SERVER.names)
        async with replicas(client, ns, lambda: now):
            pass
    after = {key: value for key, value in client.counts.items() if key[0] in ("create", "update")}
    assert after == before


async def test_a_replica_shows_the_certificate_that_another_one_renewed(client, ns):
    now = datetime.now(UTC)
    async with replicas(client, ns, lambda: now) as [early]:
        before = shown_by(early)
        async with replicas(client, ns, lambda: now + YEAR * 0.7) as [late]:
            assert shown_by(late) != before
            while shown_by(early) != shown_by(late):
                await asyncio.sleep(0.02)


async def test_a_lost_authority_is_recreated_and_its_dependents_are_notified(client, ns):
    now, changed = datetime.now(UTC), asyncio.Event()
    async with replicas(client, ns, lambda: now) as [credentials]:
        credentials.subscribe(changed.set)
        files, _ = await credentials.ensure_server("fn-tls-server", SERVER.names)
        await client.delete(SECRET, "crossplane-root-ca", ns)
        await asyncio.wait_for(changed.wait(), 10)
        renewed, _ = await credentials.ensure_server("fn-tls-server", SERVER.names)
    assert renewed["ca.crt"] != files["ca.crt"]
    assert renewed["tls.crt"] != files["tls.crt"], "nobody would accept it any more"


def test_a_clients_certificate_is_for_clients_only():
    authorities = read_authorities(authority_at(NOW), NOW)
    certificate = signer(issued(purpose_for(FOR_CLIENTS, ("crossplane.home",)), authorities, NOW, LIVES))
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [FOR_CLIENTS]
