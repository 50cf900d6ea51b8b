"""The interface of runtimes: how the revisions of packages are run.

`deployment_runtime` runs them on Kubernetes, `container_runtime` Functions in containers on this machine, and
`provider_runtime` Providers in containers or as processes. All methods are idempotent, and raise what is
wrong.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple, Protocol, runtime_checkable

from crossply.control.replica_shared_secret import Files
from crossply.errors import CrossplyError
from crossply.values import Object


class NotRunning(CrossplyError):
    """A package's revision does not run (yet)."""

    code = "CP-873"
    hint = "look at its Deployment and Pods: kubectl -n crossplane-system get deployment,pods"


class Prepared(NamedTuple):
    """What is known of a revision before it runs."""

    status: Object
    """Fields of its status: where it will be called, and the names of its Secrets."""
    renew_at: datetime | None = None
    """When to reconcile it again at the latest."""
    certificates: Files = {}  # noqa: RUF012 - nobody writes to it
    """The certificates for its server."""
    client_certificates: Files = {}  # noqa: RUF012 - nobody writes to it
    """What a Provider shows to whom it calls."""


class Runtime(Protocol):
    """Runs revisions."""

    async def prepare(self, revision: Object) -> Prepared:
        """Make what others wait for: the endpoint and certificates of an active revision."""
        ...

    async def run(self, revision: Object, prepared: Prepared) -> None:
        """Have it run; raises why it does not, such as `NotRunning`."""
        ...

    async def stop(self, revision: Object) -> None:
        """It is not active: have it run no longer."""
        ...


@runtime_checkable
class ScalesToZero(Protocol):
    """A runtime that keeps all but the program of a revision which has nothing to do yet."""

    async def scale_to_zero(self, revision: Object, prepared: Prepared) -> None:
        """Have everything that it needs to run, and not run it; raises why that is not so."""
        ...
