"""The collector of reference cycles in processes that run for long.

Nearly everything is freed by reference counts as soon as it is unused: in a control plane under load the
collector finds nothing, but with Python's defaults it takes a sixth of the CPU time of the controllers.
"""

from __future__ import annotations

import gc

_NEW_CONTAINERS = 10_000
"""So many more containers than at the last collection start one; Python's default is 700."""


def collect_seldom() -> None:
    """Leave out the objects that exist now, which stay, and look for cycles among many new ones at a time."""
    gc.freeze()
    gc.set_threshold(_NEW_CONTAINERS)
