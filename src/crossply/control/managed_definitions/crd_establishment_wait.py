"""Waiting for the CRDs of definitions: a Provider is not healthy before its kinds are there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import orjson

from crossply.compose.conditions import read_conditions
from crossply.compose.object_metadata import metadata_of
from crossply.control.managed_definitions.conversion import ACTIVE
from crossply.control.managed_definitions.definition_informer import DIGEST, state_of
from crossply.kinds.activation_policy import activates
from crossply.kube.informer import Informer
from crossply.kube.watch import Key

_PATIENCE_SECONDS = 10.0
"""How long nothing may happen before nothing is waited for any longer."""


async def wait_for_crds(definitions: Informer, policies: Informer, digests: Mapping[str, str]) -> None:
    """Return when each definition that is active is established or says why not, or when nothing goes on.

    One that a policy activates counts as active. The digests are of their specs, by name: an informer may
    not know yet what was written last.
    """
    activating = [orjson.loads(data) for data in policies.objects()]

    def is_pending(name: str, data: bytes | None) -> bool:
        return _is_pending(data, digests[name], any(activates(policy, name) for policy in activating))

    pending = {name for name in digests if is_pending(name, definitions.get("", name))}
    progress = asyncio.Event()

    def note(change: str, key: Key, old: bytes | None, new: bytes | None) -> None:
        name = key[1]
        if name in pending and (new is None or not is_pending(name, new)):
            pending.discard(name)
            progress.set()

    unsubscribe = definitions.subscribe(note)
    try:
        while pending:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await progress.wait()
            progress.clear()
    except TimeoutError:
        return
    finally:
        unsubscribe()


def _is_pending(data: bytes | None, digest: str, is_activated: bool) -> bool:
    """Whether the controllers have still to do something about a definition."""
    definition = {} if data is None else orjson.loads(data)
    if definition.get(DIGEST) != digest:
        return True
    if state_of(definition) != ACTIVE:
        return is_activated
    generation = metadata_of(definition).get("generation")
    return not any(
        condition["type"] == "Established"
        and condition["status"] != "Unknown"
        and condition.get("observedGeneration") == generation
        for condition in read_conditions(definition.get("status"))
    )
