"""The informer of ManagedResourceDefinitions, which remembers little of each.

The definitions of a large Provider have tens of megabytes of schemas, and controllers only ask for
names, owners, states and conditions.
"""

from __future__ import annotations

import orjson

from crossply.control.kinds import MANAGED_DEFINITION
from crossply.control.managed_definitions.conversion import INACTIVE
from crossply.kube.informer import Informer
from crossply.kube.list_options import Selection
from crossply.kube.shared_informers import SharedInformers
from crossply.values import Object
from crossply.values.digest import sha256_hex

DIGEST = "specDigest"
"""Of the spec without its state, which is not the package's."""
BY_STATE = "state"


def state_of(definition: Object) -> str:
    """Whether a definition is active."""
    return str((definition.get("spec") or {}).get("state") or INACTIVE)


def spec_digest(definition: Object) -> str:
    """What changes with anything but the state."""
    spec = {key: value for key, value in (definition.get("spec") or {}).items() if key != "state"}
    return sha256_hex(orjson.dumps(spec, option=orjson.OPT_SORT_KEYS))


def _summary(definition: Object) -> Object:
    metadata = {key: value for key, value in definition["metadata"].items() if key != "managedFields"}
    return {
        "apiVersion": definition.get("apiVersion"),
        "kind": definition.get("kind"),
        "metadata": metadata,
        "spec": {"state": state_of(definition)},
        "status": definition.get("status") or {},
        DIGEST: spec_digest(definition),
    }


_SUMMARIES = Selection(reduce=_summary)


def acquire_definitions(informers: SharedInformers) -> Informer:
    """The informer that all share, indexed."""
    informer = informers.acquire(MANAGED_DEFINITION, _SUMMARIES)
    informer.add_index(BY_STATE, lambda definition: [state_of(definition)])
    return informer
