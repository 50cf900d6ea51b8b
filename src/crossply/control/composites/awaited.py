"""What a composite resource that failed waits for, so that it is retried when that comes, and not by chance.

Only causes that something can be watched for are here: kinds that are not served, namespaces that do not
exist, rights that nobody granted. Other failures are retried after ever longer pauses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crossply.control.composites.dependencies import Interest
from crossply.control.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CRD,
    NAMESPACE,
    ROLE,
    ROLE_BINDING,
)
from crossply.kube.discovery import UnknownKind
from crossply.kube.failures import Forbidden, NotFound, NotServed

SETTLING_SECONDS = 2.0
"""API servers serve a new kind, and heed a new role, a moment after they tell of it."""
KINDS = frozenset({Interest(CRD)})
NAMESPACES = frozenset({Interest(NAMESPACE)})
RIGHTS = frozenset(Interest(kind) for kind in (CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING))


def awaited_after(problem: BaseException) -> set[Interest]:
    """What may let a run succeed that ended like this."""
    interests: set[Interest] = set()
    for cause in _causes(problem):
        if isinstance(cause, UnknownKind | NotServed):
            interests |= KINDS
        elif isinstance(cause, NotFound):
            interests |= NAMESPACES
        elif isinstance(cause, Forbidden):
            interests |= RIGHTS
    return interests


def takes_effect_later(interests: Iterable[Interest]) -> bool:
    """Whether a change of these has its effect only a moment after it is known."""
    return any(interest in KINDS or interest in RIGHTS for interest in interests)


def _causes(problem: BaseException | None) -> Iterator[BaseException]:
    while problem is not None:
        yield problem
        problem = problem.__cause__ or problem.__context__
