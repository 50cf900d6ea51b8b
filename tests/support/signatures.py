"""Images signed as cosign signs them."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import orjson
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from crossply.xpkg.blob_content import in_memory
from crossply.xpkg.image import Image, Layer
from crossply.xpkg.signatures import Authority
from tests.support.images import image

DIGEST, OTHER = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"


Sign = Callable[[bytes], bytes]


def by(key: ec.EllipticCurvePrivateKey) -> Sign:
    return lambda payload: key.sign(payload, ec.ECDSA(hashes.SHA256()))


def trusted(key: Any, name: str = "us", **rest: str) -> Authority:
    form = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return Authority(name, key.public_key().public_bytes(*form), **rest)


def payload(digest: str = DIGEST, kind: str = "cosign container image signature") -> bytes:
    return orjson.dumps({"critical": {"image": {"docker-manifest-digest": digest}, "type": kind}})


def signature(text: bytes, sign: Sign, written: str = "") -> Image:
    """The image that cosign puts beside a signed one."""
    encoded = written or base64.b64encode(sign(text)).decode()
    layer = Layer(in_memory(text), annotations={"dev.cosignproject.cosign/signature": encoded})
    return image()._replace(layers=(layer,))
