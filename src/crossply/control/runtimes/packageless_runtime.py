"""Functions that run without a package of their own: they can be called as soon as they are known."""

from __future__ import annotations

from crossply.compose.object_metadata import name_of
from crossply.control.calls.function_revision_runtime import as_function
from crossply.control.runtimes.runtime import NotRunning, Prepared
from crossply.functions import builtin
from crossply.functions.binding import BUILTIN, ON_THIS_MACHINE, choose_runtime, remote_target
from crossply.functions.host_access_policy import Check, HostAccessRefused
from crossply.values import Object


class LocalRuntime:
    """Built-in functions, local processes, and functions at a configured address."""

    def __init__(self, check_host_access: Check) -> None:
        self._check_host_access = check_host_access

    async def prepare(self, revision: Object) -> Prepared:
        """The endpoint of the function; raises if it uses parts of this machine that it may not."""
        try:
            self._check_host_access(as_function(revision))
        except HostAccessRefused as refusal:
            raise NotRunning(str(refusal), hint=refusal.hint) from None
        return Prepared({"endpoint": local_endpoint(revision)})

    async def run(self, revision: Object, prepared: Prepared) -> None:
        """It runs, or is started by the first call."""

    async def stop(self, revision: Object) -> None:
        """Nothing was started."""


def local_endpoint(revision: Object) -> str:
    """The endpoint of a revision that needs no package."""
    function = as_function(revision)
    runtime = choose_runtime(function)
    if runtime == BUILTIN:
        return f"builtin:///{builtin.sharing_name(function['spec']['package']) or ''}"
    if runtime in ON_THIS_MACHINE:
        return f"{runtime}:///{name_of(revision)}"
    return remote_target(function)
