"""An image is accepted where a trusted key signed it, and refused in every other case."""

from __future__ import annotations

import asyncio

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

from crossply.xpkg.image import Image
from crossply.xpkg.image_reference import parse
from crossply.xpkg.registry_session import Registries
from crossply.xpkg.signatures import Authority, NotSigned, verify
from tests.support.registry import ScriptedRegistry
from tests.support.signatures import DIGEST, OTHER, by, payload, signature, trusted

KEY, STRANGER = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())


def verified(beside: Image | None, *authorities: Authority) -> str:
    async def main() -> str:
        async with ScriptedRegistry().running() as registry:
            if beside is not None:
                registry.serve_image(beside, tag=f"sha256-{DIGEST[7:]}.sig")
            async with Registries() as registries:
                reference = parse(f"{registry.address}/acme/x:v1")
                return await verify(registries, reference, DIGEST, authorities)

    return asyncio.run(main())


def test_the_first_authority_that_signed_is_returned() -> None:
    authority = verified(signature(payload(), by(KEY)), trusted(STRANGER, "them"), trusted(KEY, "us"))
    assert authority == "us"


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
    with pytest.raises(NotSigned, match="no key is trusted"):
        verified(beside)
