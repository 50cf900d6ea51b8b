"""How CRDs of a Provider's package become ManagedResourceDefinitions, and which state those keep."""

from __future__ import annotations

from typing import NamedTuple

import orjson

from crossply.compose.object_metadata import metadata_of, name_of, uid_of
from crossply.control.managed_definitions.conversion import ACTIVE, definition_of, is_managed
from crossply.control.managed_definitions.definition_informer import spec_digest, state_of
from crossply.control.package_manager.owner_references import package_owner
from crossply.kube.informer import Informer
from crossply.values import Object


class Conversion(NamedTuple):
    """How the CRDs of a package are established."""

    enabled: bool = False
    """Whether they become definitions; those that are definitions already stay so."""
    safe_start: bool = False
    """Whether new definitions are inactive, until a policy activates them."""
    existing: frozenset[str] = frozenset()
    """The definitions that the package brought before."""

    def apply_to(self, obj: Object) -> Object:
        """The definition of an object that is to have one, or the object itself."""
        if not is_managed(obj) or not (self.enabled or name_of(obj) in self.existing):
            return obj
        return definition_of(obj, None if self.safe_start else ACTIVE)


def definitions_of(definitions: Informer, revision: Object) -> frozenset[str]:
    """The names of the definitions that the package of a revision brought."""
    owners = {uid_of(revision), (package_owner(revision) or {}).get("uid")}
    known = (orjson.loads(data) for data in definitions.objects())
    return frozenset(name_of(definition) for definition in known if owners & _owner_uids(definition))


def _owner_uids(obj: Object) -> set[str]:
    return {str(owner.get("uid")) for owner in metadata_of(obj).get("ownerReferences") or ()}


def with_live_state(definition: Object, live: Object | None) -> Object:
    """A definition that stays active where it is: that cannot be taken back."""
    if live is None or state_of(live) != ACTIVE:
        return definition
    return {**definition, "spec": {**definition["spec"], "state": ACTIVE}}


def is_same_definition(live: Object, desired: Object) -> bool:
    """Whether a definition that another program wrote, such as Crossplane, is as desired."""
    state = desired["spec"].get("state") or state_of(live)
    return spec_digest(live) == spec_digest(desired) and state == state_of(live)
