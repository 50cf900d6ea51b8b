"""An image is accepted where a trusted key signed it, and refused in every other case."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

from crossply.xpkg.blobs import in_memory
from crossply.xpkg.image import Image, Layer
from crossply.xpkg.references import parse
from crossply.xpkg.registry import Registries
from crossply.xpkg.signatures import Authority, NotSigned, verify
from tests.xpkg.making import image
from tests.xpkg.peers import Lying

DIGEST, OTHER = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"
KEY, STRANGER = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
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


def verified(beside: Image | None, *authorities: Authority) -> str:
    async def main() -> str:
        async with Lying().running() as registry:
            if beside is not None:
                registry.serve_image(beside, tag=f"sha256-{DIGEST[7:]}.sig")
            async with Registries() as registries:
                reference = parse(f"{registry.address}/acme/x:v1")
                return await verify(registries, reference, DIGEST, authorities)

    return asyncio.run(main())


def test_the_first_authority_that_signed_is_told() -> None:
    found = verified(signature(payload(), by(KEY)), trusted(STRANGER, "them"), trusted(KEY, "us"))
    assert found == "us"


def test_keys_of_other_kinds_sign_as_well() -> None:
    rsa_key = rsa.generate_private_key(65537, 2048)
    edwards = ed25519.Ed25519PrivateKey.generate()

    def with_rsa(text: bytes) -> bytes:
        return rsa_key.sign(text, padding.PKCS1v15(), hashes.SHA512())

    assert verified(signature(payload(), with_rsa), trusted(rsa_key, hash_algorithm="sha512"))
    assert verified(signature(payload(), edwards.sign), trusted(edwards))


REFUSED = {
    "no signature": (None, "no signatures found"),
    "somebody else's signature": (signature(payload(), by(STRANGER)), "no matching signatures"),
    "a signature for another image": (signature(payload(OTHER), by(KEY)), "no matching signatures"),
    "a signature for something else": (signature(payload(kind="x"), by(KEY)), "no matching signatures"),
    "a text that says nothing": (signature(b"[]", by(KEY)), "no matching signatures"),
    "a signature of another text": (
        signature(payload(), lambda _: by(KEY)(payload(OTHER))),
        "no matching signatures",
    ),
    "a signature that is none": (signature(payload(), by(KEY), "???"), "no matching signatures"),
}


@pytest.mark.parametrize(("beside", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_everything_else_is_refused(beside: Image | None, reason: str) -> None:
    with pytest.raises(NotSigned, match=f"us: {reason}"):
        verified(beside, trusted(KEY))


def test_keys_that_cannot_be_read_accept_nothing() -> None:
    beside = signature(payload(), by(KEY))
    with pytest.raises(NotSigned, match="its public key cannot be read"):
        verified(beside, Authority("us", b"no key"))
    with pytest.raises(NotSigned, match="unknown hash algorithm md5"):
        verified(beside, trusted(KEY, hash_algorithm="md5"))
    with pytest.raises(NotSigned, match="nobody is trusted"):
        verified(beside)
