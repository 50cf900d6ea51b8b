"""genCA, genSelfSignedCert and genSignedCert, with a new key or an existing one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from crossply.functions.builtin.go_templating.engine.go_types import Structure
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig import clock_and_random as world
from crossply.functions.builtin.go_templating.sprig.casting import sprint
from crossply.functions.builtin.go_templating.sprig.keys import first_block, from_pem, rsa_key, to_pem
from crossply.values.gobase64 import Base64Error, decode

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from cryptography.x509 import Certificate, CertificateBuilder, GeneralName, Name

TYPE = "sprig.certificate"
_BITS = 2048


class _Signer(NamedTuple):
    """Who signs: a name, its key, and the identifier of that key, if it has one."""

    name: Name
    key: Any
    identifier: bytes | None = None


class _Subject(NamedTuple):
    """What a certificate shall say."""

    name: str
    days: int
    alternatives: list[GeneralName]
    authority: bool = False


def gen_ca(name: str, days: int) -> Structure:
    """Make a certificate authority."""
    return _self_signed(_Subject(name, days, [], True), rsa_key(_BITS))


def gen_ca_with_key(name: str, days: int, key: str) -> Structure:
    """Make a certificate authority with a given key."""
    return _self_signed(_Subject(name, days, [], True), _parse_key(key))


def gen_self_signed_cert(name: str, ips: Any, names: Any, days: int) -> Structure:
    """Make a certificate that is signed with its own key."""
    return _self_signed(_Subject(name, days, _alternatives(ips, names)), rsa_key(_BITS))


def gen_self_signed_cert_with_key(name: str, ips: Any, names: Any, days: int, key: str) -> Structure:
    """Make a certificate that is signed with its own, given key."""
    return _self_signed(_Subject(name, days, _alternatives(ips, names)), _parse_key(key))


def gen_signed_cert(name: str, ips: Any, names: Any, days: int, authority: Structure) -> Structure:
    """Make a certificate that an authority signs."""
    return _signed(_Subject(name, days, _alternatives(ips, names)), rsa_key(_BITS), _signer(authority))


def gen_signed_cert_with_key(
    name: str, ips: Any, names: Any, days: int, authority: Structure, key: str
) -> Structure:
    """Make a certificate with a given key that an authority signs."""
    key_pair = _parse_key(key)
    signer = _signer(authority)
    return _signed(_Subject(name, days, _alternatives(ips, names)), key_pair, signer)


def build_custom_cert(certificate: str, key: str) -> Structure:
    """Take a certificate and its key, both as base64 of PEM."""
    certificate_text = _decoded(certificate, "unable to decode base64 certificate")
    key_text = _decoded(key, "unable to decode base64 private key")
    _certificate(certificate_text, "decodedCert")
    _parsed_key(key_text)
    return _value(certificate_text, key_text)


def _value(certificate: str, key: str) -> Structure:
    return Structure(TYPE, {"Cert": certificate, "Key": key})


def _decoded(text: str, error: str) -> str:
    try:
        return decode(text).decode("utf-8", "surrogateescape")
    except Base64Error:
        raise FunctionFailed(error) from None


def _parse_key(text: str) -> Any:
    try:
        return from_pem(text)
    except FunctionFailed as error:
        raise FunctionFailed(f"parsing private key: {error}") from None


def _parsed_key(text: str) -> Any:
    try:
        return from_pem(text)
    except FunctionFailed as error:
        raise FunctionFailed(f"error parsing private key: {error}") from None


def _certificate(text: str, variable: str) -> Certificate:
    from cryptography.x509 import load_der_x509_certificate

    block = first_block(text)
    if block is None:
        raise FunctionFailed("unable to decode certificate")
    try:
        return load_der_x509_certificate(block.data)
    except ValueError as error:
        raise FunctionFailed(f"error parsing certificate: {variable}.Bytes: {error}") from None


def _signer(authority: Structure) -> _Signer:
    from cryptography.x509 import ExtensionNotFound, SubjectKeyIdentifier

    certificate = _certificate(authority.fields["Cert"], "decodedSignerCert")
    key = _parsed_key(authority.fields["Key"])
    with _any_length():
        name = certificate.subject
    try:
        extension = certificate.extensions.get_extension_for_class(SubjectKeyIdentifier)
    except ExtensionNotFound:
        return _Signer(name, key)
    return _Signer(name, key, extension.value.digest)


def _alternatives(ips: Any, names: Any) -> list[GeneralName]:
    from ipaddress import ip_address

    from cryptography.x509 import DNSName, IPAddress

    addresses: list[GeneralName] = []
    for ip in ips or []:
        if not isinstance(ip, str):
            raise FunctionFailed(f"error parsing ip: {sprint(ip)} is not a string")
        try:
            addresses.append(IPAddress(ip_address(ip)))
        except ValueError:
            raise FunctionFailed(f"error parsing ip: {ip}") from None
    for name in names or []:
        if not isinstance(name, str):
            raise FunctionFailed(f"error processing alternate dns name: {sprint(name)} is not a string")
    try:
        # Names come first, as Go writes them.
        return [*map(DNSName, names or []), *addresses]
    except ValueError as error:
        raise FunctionFailed(f"error creating certificate: x509: {error}") from None


def _self_signed(subject: _Subject, key: Any) -> Structure:
    return _signed(subject, key, _Signer(_subject(subject.name), key))


def _subject(name: str) -> Name:
    from cryptography.x509 import Name, NameAttribute
    from cryptography.x509.oid import NameOID

    if not name:
        return Name([])
    with _any_length():
        return Name([NameAttribute(NameOID.COMMON_NAME, name, _validate=False)])


def _any_length() -> AbstractContextManager[Any]:
    """Go does not mind how long a name is; the library would warn."""
    from warnings import catch_warnings

    return catch_warnings(action="ignore", category=UserWarning)


def _signed(subject: _Subject, key: Any, signer: _Signer) -> Structure:
    from cryptography.hazmat.primitives.asymmetric.dsa import DSAPrivateKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import Encoding

    if isinstance(signer.key, DSAPrivateKey):
        reason = "x509: certificate private key does not implement crypto.Signer"
        raise FunctionFailed(f"error creating certificate: {reason}")
    if isinstance(key, DSAPrivateKey):
        raise FunctionFailed("error creating certificate: x509: unsupported public key type: *dsa.PublicKey")
    algorithm = None if isinstance(signer.key, Ed25519PrivateKey) else SHA256()
    try:
        certificate = _builder(subject, key, signer).sign(signer.key, algorithm)
    except (ValueError, TypeError, OverflowError) as error:
        raise FunctionFailed(f"error creating certificate: {error}") from None
    return _value(certificate.public_bytes(Encoding.PEM).decode(), to_pem(key))


def _builder(requested: _Subject, key: Any, signer: _Signer) -> CertificateBuilder:
    from datetime import UTC, datetime, timedelta

    from cryptography import x509

    now = datetime.fromtimestamp(world.clock() // 1_000_000_000, UTC)
    subject = _subject(requested.name)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(signer.name)
        .public_key(key.public_key())
        .serial_number(int.from_bytes(world.random_bytes(16), "big") or 1)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=requested.days))
        .add_extension(_key_usage(requested.authority), critical=True)
        .add_extension(_extended_key_usage(), critical=False)
        .add_extension(x509.BasicConstraints(requested.authority, None), critical=True)
    )
    if requested.authority:
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
    if signer.identifier is not None and signer.name != subject:
        builder = builder.add_extension(x509.AuthorityKeyIdentifier(signer.identifier, None, None), False)
    if requested.alternatives:
        names = x509.SubjectAlternativeName(requested.alternatives)
        builder = builder.add_extension(names, critical=not requested.name)
    return builder


def _key_usage(authority: bool) -> Any:
    from cryptography.x509 import KeyUsage

    return KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=True,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _extended_key_usage() -> Any:
    from cryptography.x509 import ExtendedKeyUsage
    from cryptography.x509.oid import ExtendedKeyUsageOID as Oid

    return ExtendedKeyUsage([Oid.SERVER_AUTH, Oid.CLIENT_AUTH])
