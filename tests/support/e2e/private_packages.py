"""Packages in a registry that asks for a password, and signatures on them."""

from __future__ import annotations

import base64
import json
import pathlib

from cryptography.hazmat.primitives.asymmetric import ec

from crossply.xpkg.image_push import push_image
from crossply.xpkg.image_reference import parse
from crossply.xpkg.keychain import DockerConfig
from crossply.xpkg.registry_session import Registries, Trust
from tests.support.e2e.packages import HOME, IMAGE_CONFIG, Packages
from tests.support.e2e.scenario import SECRET, Scenario, condition
from tests.support.signatures import by, payload, signature

LOGIN = "robot:correct-horse-battery"
UNHEALTHY = condition("RevisionHealthy", "False", "UnhealthyPackageRevision")
UNPACKING = condition("Installed", "False", "UnpackingPackage")


def logins(address: str) -> DockerConfig:
    return DockerConfig({"auths": {address: {"auth": base64.b64encode(LOGIN.encode()).decode()}}})


def private_packages(s: Scenario, address: str, certificate: pathlib.Path) -> Packages:
    trust = Trust(authority=(certificate / "tls.crt").read_bytes())
    return Packages(s, address, trust, logins(address))


def login_data(address: str) -> str:
    """The login as a value of a pull secret."""
    return base64.b64encode(json.dumps(dict(logins(address).content)).encode()).decode()


async def pull_secret(s: Scenario, address: str) -> str:
    body = {
        "metadata": {"name": s.id, "namespace": HOME},
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": login_data(address)},
    }
    await s.client.create(SECRET, body)
    return s.id


async def image_config(s: Scenario, prefix: str, name: str = "", **spec: object) -> None:
    body = {
        "apiVersion": IMAGE_CONFIG.api_version,
        "kind": IMAGE_CONFIG.kind,
        "metadata": {"name": name or s.id},
        "spec": {"matchImages": [{"type": "Prefix", "prefix": prefix}], **spec},
    }
    await s.client.apply(IMAGE_CONFIG, body, "test")


async def sign(packages: Packages, digest: str, key: ec.EllipticCurvePrivateKey) -> None:
    beside = parse(f"{packages.source('platform')}:{digest.replace(':', '-')}.sig")
    async with Registries() as registries:
        await push_image(registries, signature(payload(digest), by(key)), beside)
