"""Errors of starting and stopping a control plane on this machine."""

from __future__ import annotations

from crossply.errors import CrossplyError


class StartFailed(CrossplyError):
    """The control plane did not start."""

    code = "CP-570"
    hint = "look at the end of the log, and at whether another one runs on the same data or port"


class PortInUse(StartFailed):
    """The API server cannot listen on its port."""

    code = "CP-589"


class UntrustedData(CrossplyError):
    """Other users can write to the data directory."""

    code = "CP-574"


class AlreadyRunning(CrossplyError):
    """Another control plane runs on the same data directory."""

    code = "CP-575"
    hint = "stop it with crossply down, or give this one a data directory of its own with --data"


class NoLog(CrossplyError):
    """There is no output of a Provider or Function in a data directory."""

    code = "CP-585"
    hint = (
        "name the data directory of its control plane with --data; a Function is started by its first call, "
        "and why a Provider was not started is shown by kubectl describe providers.pkg.crossplane.io"
    )


class StopFailed(CrossplyError):
    """The control plane does not stop."""

    code = "CP-576"
    hint = "see which processes use its lock: fuser -v FILE"
