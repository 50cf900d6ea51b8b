"""What every certificate of ours has in common, whoever issues it: the kind of key, the usages, the times."""

from __future__ import annotations

from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec


def new_key() -> ec.EllipticCurvePrivateKey:
    """A private key."""
    return ec.generate_private_key(ec.SECP256R1())


def begin_certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    begins: datetime,
    ends: datetime,
) -> x509.CertificateBuilder:
    """A certificate that lacks what sets authorities and servers and clients apart."""
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins.astimezone(UTC))
        .not_valid_after(ends.astimezone(UTC))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def key_usage(signs_certificates: bool) -> x509.KeyUsage:
    """What the key of an authority may do, or that of everybody else."""
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
