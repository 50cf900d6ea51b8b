"""Flags for recording the runs of pipelines, of `up` and `controller`."""

from __future__ import annotations

import os

from crossply.cli.framework.command import Flag, Invocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.apiserver.storage import ValueCodec
    from crossply.control.recorded_run_service import RunServing
    from crossply.runs.recorder import RunSettings

_SIZE = Flag(
    "max-runs-size",
    "The maximum size of all recorded runs, in MiB. The oldest runs make room for new ones.",
    kind="int",
    default=256,
    placeholder="256",
    env="MAX_RUNS_SIZE",
)
_RUNS_PER_SUBJECT = Flag(
    "max-runs",
    "The maximum number of recorded runs of each composite resource or Operation.",
    kind="int",
    default=50,
    placeholder="50",
    env="MAX_RUNS",
)
UP_RUN_FLAGS = (
    Flag(
        "record-runs",
        "Record the pipeline runs of composite resources and Operations, for crossply runs. Secrets are not "
        "recorded. Runs that change nothing are only counted.",
        default=True,
    ),
    _RUNS_PER_SUBJECT,
    _SIZE,
)
CONTROLLER_RUN_FLAGS = (
    Flag(
        "record-runs",
        "Record the pipeline runs of composite resources and Operations, for crossply runs. Secrets are not "
        "recorded. Runs that change nothing are only counted.",
        default=False,
        env="RECORD_RUNS",
    ),
    Flag(
        "runs-dir",
        "The directory of recorded runs. Each replica needs one of its own.",
        kind="path",
        default="/cache/runs",
        placeholder="DIR",
        env="RUNS_DIR",
    ),
    Flag(
        "runs-port",
        "The port that serves recorded runs over HTTPS: in a cluster on all addresses, elsewhere on "
        "loopback. 0 selects a free port.",
        kind="int",
        default=8083,
        placeholder="8083",
        env="RUNS_PORT",
    ),
    _RUNS_PER_SUBJECT,
    _SIZE,
)


def run_settings(
    invocation: Invocation, directory: str, codec: ValueCodec | None = None
) -> RunSettings | None:
    """Where and how runs are recorded; None if they are not."""
    if not invocation["record-runs"]:
        return None
    from crossply.apiserver.storage import PLAIN
    from crossply.runs.recorder import RunSettings
    from crossply.runs.sqlite_run_store import Limits

    limits = Limits(
        runs_per_object=max(invocation["max-runs"], 1), bytes=max(invocation["max-runs-size"], 1) << 20
    )
    return RunSettings(directory, limits, codec or PLAIN)


def controller_serving(invocation: Invocation) -> RunServing:
    """How a replica of `controller` serves its runs."""
    from crossply.control.recorded_run_service import RunServing

    return RunServing.in_environment(invocation["replica"] or "", invocation["runs-port"], os.environ)
