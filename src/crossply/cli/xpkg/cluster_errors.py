"""Why the cluster refused what a command on packages asked of it, and what to do about that."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from crossply.errors import CrossplyError
from crossply.kube.failures import AlreadyExists, Conflict, KubeError, NotFound, NotServed, Unreachable

TIMEOUT_SECONDS = 10.0


class PackageCommandError(CrossplyError):
    """A package could not be installed or updated in the cluster."""

    code = "CP-594"


@contextlib.asynccontextmanager
async def package_write(prefix: str, instead: str) -> AsyncIterator[None]:
    """Bound a write in time, and say why it was refused; `instead` as in `cluster_error`."""
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            yield
    except (KubeError, Conflict) as problem:
        raise cluster_error(problem, prefix, instead) from None
    except TimeoutError:
        raise PackageCommandError(f"{prefix}: context deadline exceeded") from None


def cluster_error(problem: KubeError | Conflict, prefix: str, instead: str = "") -> CrossplyError:
    """A refusal of the cluster, with what to do about it.

    `instead` is the command for a package that exists already, or that does not exist yet.
    """
    is_missing = isinstance(problem, NotFound) and not isinstance(problem, NotServed)
    if instead and (is_missing or isinstance(problem, AlreadyExists)):
        return PackageCommandError(f"{prefix}: {problem}", hint=instead)
    if isinstance(problem, NotFound):
        hint = "is this a cluster with Crossplane or Crossply? It does not know the kinds of packages"
        return PackageCommandError(f"{prefix}: {problem}", hint=hint)
    if isinstance(problem, Unreachable):
        return PackageCommandError(f"{prefix}: {problem}", hint="is the cluster running?")
    return PackageCommandError(f"{prefix}: {problem}")
