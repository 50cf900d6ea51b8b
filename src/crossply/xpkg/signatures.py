"""Whether a trusted key has signed an image: cosign's signatures, checked with public keys.

A signature is an image of its own beside the signed one, tagged `sha256-<digest>.sig`. Each of its layers is
a small text that names a digest, with the signature of that text as an annotation. Whatever is not understood
counts as no signature: an image without one that a trusted key made is refused.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

from crossply.values import Object
from crossply.xpkg.failures import PackagesError
from crossply.xpkg.image_manifests import check_manifest
from crossply.xpkg.image_pull import manifest, read_blob
from crossply.xpkg.image_reference import Reference, check_digest
from crossply.xpkg.registry_failures import NotInRegistry
from crossply.xpkg.registry_session import Registries

_ANNOTATION = "dev.cosignproject.cosign/signature"
_TYPES = ("cosign container image signature", "atomic container signature")
_MAX_PAYLOAD = 1 << 20
_MOST_SIGNATURES = 100
_HASHES: dict[str, type[hashes.HashAlgorithm]] = {
    "": hashes.SHA256,
    "sha256": hashes.SHA256,
    "sha384": hashes.SHA384,
    "sha512": hashes.SHA512,
    "sha224": hashes.SHA224,
}


class NotSigned(PackagesError):
    """An image has no signature of a trusted key."""

    code = "CP-931"
    hint = "have the image signed with a key of the ImageConfig, or correct the key"


class Authority(NamedTuple):
    """An authority whose signatures are accepted."""

    name: str
    key: bytes
    """Their public key, PEM."""
    hash_algorithm: str = "sha256"


async def verify(
    registries: Registries, reference: Reference, digest: str, authorities: Sequence[Authority]
) -> str:
    """The name of the first authority that signed an image; NotSigned where none did."""
    if not authorities:
        raise NotSigned(f"no key is trusted to sign {reference}")
    signatures = await _signatures(registries, reference, check_digest(digest))
    reasons = []
    for authority in authorities:
        try:
            check_signatures(authority, digest, signatures)
        except NotSigned as problem:
            reasons.append(f"{authority.name}: {problem}")
        else:
            return authority.name
    raise NotSigned(f"signature verification of {reference.name}@{digest} failed: {'; '.join(reasons)}")


class Signature(NamedTuple):
    """A text, and the signature of it."""

    payload: bytes
    signature: bytes


async def _signatures(registries: Registries, reference: Reference, digest: str) -> list[Signature]:
    beside = reference._replace(tag=f"{digest.replace(':', '-')}.sig", digest="")
    try:
        resolved = await manifest(registries, beside)
    except NotInRegistry:
        return []
    _, *layers = check_manifest(resolved.content)
    signatures = []
    for layer in layers[:_MOST_SIGNATURES]:
        annotations = layer.get("annotations")
        written = annotations.get(_ANNOTATION) if isinstance(annotations, dict) else None
        if isinstance(written, str):
            payload = await read_blob(registries, reference, layer, _MAX_PAYLOAD)
            signatures.append(Signature(payload, _decoded(written)))
    return signatures


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def check_signatures(authority: Authority, digest: str, signatures: Sequence[Signature]) -> None:
    """Raise unless one of the signatures is the authority's, and is for this image."""
    key = _public_key(authority)
    if not signatures:
        raise NotSigned("no signatures found")
    if not any(
        _names(signature.payload, digest) and _is_signed(key, authority, signature)
        for signature in signatures
    ):
        raise NotSigned("no matching signatures")


def _public_key(authority: Authority) -> Any:
    if authority.hash_algorithm not in _HASHES:
        raise NotSigned(f"unknown hash algorithm {authority.hash_algorithm}")
    try:
        return serialization.load_pem_public_key(authority.key)
    except (ValueError, UnsupportedAlgorithm):
        raise NotSigned("its public key cannot be read") from None


def _names(payload: bytes, digest: str) -> bool:
    """Return whether a signed text is about this image."""
    try:
        critical: Object = orjson.loads(payload)["critical"]
        return critical["type"] in _TYPES and critical["image"]["docker-manifest-digest"] == digest
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return False


def _is_signed(key: Any, authority: Authority, signed: Signature) -> bool:
    algorithm = _HASHES[authority.hash_algorithm]()
    try:
        if isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(signed.signature, signed.payload, ec.ECDSA(algorithm))
        elif isinstance(key, rsa.RSAPublicKey):
            key.verify(signed.signature, signed.payload, padding.PKCS1v15(), algorithm)
        elif isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(signed.signature, signed.payload)
        else:
            return False
    except InvalidSignature:
        return False
    return True
