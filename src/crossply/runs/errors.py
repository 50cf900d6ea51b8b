"""What can go wrong with recorded runs."""

from __future__ import annotations

from crossply.errors import CrossplyError


class RunsError(CrossplyError):
    """Recorded runs cannot be read."""

    code = "CP-860"


class RunNotFound(RunsError):
    """No replica has a recorded run with this id, or you may not read its composite resource."""

    code = "CP-861"
    hint = "list what is recorded: crossply runs KIND/NAME; old runs make room for new ones"


class RunAmbiguous(RunsError):
    """The beginning of an id fits several recorded runs."""

    code = "CP-862"
    hint = "give more letters of the id"


class NoRecorder(RunsError):
    """No replica of the control plane records runs, or none could be reached."""

    code = "CP-863"
    hint = "start the control plane with --record-runs, and look at its logs"


class RunUnreadable(RunsError):
    """A recorded run is damaged, or was recorded by another version of Crossply."""

    code = "CP-864"
    hint = "use the version of crossply that the control plane runs"
