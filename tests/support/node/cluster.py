"""A whole cluster on this machine: a control plane, a node that runs Pods, a registry, ways between them."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.discovery import Discovery
from crossply.values import Object
from crossply.xpkg.image import Image
from crossply.xpkg.image_push import push_image
from crossply.xpkg.image_reference import parse
from crossply.xpkg.registry_session import Registries
from tests.support.chart_installation import allowing, composing, manifests
from tests.support.cluster.real_cluster import RealCluster
from tests.support.node import images, relay
from tests.support.paths import CLUSTER
from tests.support.registry import docker_registry

NODE_IP = "10.245.0.1"
REGISTRY = f"{NODE_IP}:5000"
API = "10.96.0.1:443"
_PAUSE = f"{REGISTRY}/pause:1"
_CONTROLLERS = f"{REGISTRY}/crossply:test"


@dataclass(frozen=True)
class NodeCluster:
    """What a test has."""

    kubeconfig: str
    registry: str
    """Where images are pushed to; Pods call the same registry `REGISTRY`."""
    directory: pathlib.Path

    def push(self, image: Image, name: str) -> None:
        """Put an image into the registry."""

        async def push() -> None:
            async with Registries() as registries:
                await push_image(registries, image, parse(f"{self.registry}/{name}"))

        asyncio.run(push())


@contextlib.contextmanager
def node_cluster(directory: pathlib.Path) -> Iterator[NodeCluster]:
    """All of it; everything ends with it."""
    (directory / "registry").mkdir(parents=True)
    programs = _built("node")
    with contextlib.ExitStack() as stack:
        registry = stack.enter_context(docker_registry(directory / "registry"))
        cluster = stack.enter_context(RealCluster(str(directory / "cluster"), controllers=("*",)))
        cluster_access = NodeCluster(cluster.kubeconfig, registry, directory)
        cluster_access.push(images.pause(directory), "pause:1")
        script, state = str(CLUSTER / "node.sh"), str(directory / "node")
        stack.callback(subprocess.run, [script, "stop", state], check=False)
        subprocess.run([script, "start", state, programs, cluster.kubeconfig, _PAUSE], check=True)
        stack.enter_context(_relays(API, cluster.url.removeprefix("https://"), REGISTRY, registry))
        yield cluster_access


def install(cluster: NodeCluster) -> None:
    """The controllers, from the manifests, as Pods."""
    cluster.push(images.controllers(), "crossply:test")

    async def apply() -> None:
        async with Client(load_config(cluster.kubeconfig)) as client:
            discovery = Discovery(client)
            for obj in (*manifests(), composing(allowing([""], ["configmaps"]))):
                kind = await discovery.kind_for(obj["apiVersion"], obj["kind"])
                await client.apply(kind, _here(obj), "installer")

    asyncio.run(apply())


def _here(obj: Object) -> Object:
    """An object of the manifests, for a cluster without working Services and a registry without TLS."""
    if obj["kind"] != "Deployment":
        return obj
    [container] = obj["spec"]["template"]["spec"]["containers"]
    container["image"] = _CONTROLLERS
    arguments = [word for word in container["args"] if not word.startswith("--webhook-service")]
    container["args"] = [*arguments, "--enable-webhooks=false", f"--plain-http-registry={REGISTRY}"]
    return obj


def _built(target: str) -> str:
    done = subprocess.run([str(CLUSTER / "build.sh"), target], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


@contextlib.contextmanager
def _relays(*pairs: str) -> Iterator[None]:
    command = [sys.executable, relay.__file__, *pairs]
    process = subprocess.Popen(command)
    time.sleep(0.5)
    try:
        assert process.poll() is None, "an address is taken"
        yield
    finally:
        process.terminate()
        process.wait(10)
