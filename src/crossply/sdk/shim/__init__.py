"""Runs code for the published Python SDK (`crossplane.function`) on Crossply's SDK, unchanged.

The directory of this module contains a package of that name. It is added to the import path on request, or
when the published SDK is not installed; an installed one is never shadowed by accident.

    python -m crossply.sdk.shim main.py --insecure
"""

from __future__ import annotations

import os
import sys

from crossply.sdk.failures import SdkError

AUTO, CROSSPLY, PUBLISHED = "auto", "crossply", "published"
DIRECTORY = os.path.dirname(os.path.abspath(__file__))
"""The directory for the import path, also for PYTHONPATH."""

_PACKAGE = "crossplane.function"


def use(sdk: str = AUTO) -> None:
    """Select the SDK that `import crossplane.function` finds."""
    if _PACKAGE in sys.modules:
        _check(sdk)
        return
    while DIRECTORY in sys.path:
        sys.path.remove(DIRECTORY)
    if sdk == CROSSPLY:
        sys.path.insert(0, DIRECTORY)
    elif sdk == PUBLISHED:
        if not _is_installed():
            raise SdkError(
                f"the published SDK, {_PACKAGE}, is not installed",
                hint="pip install crossplane-function-sdk-python",
            )
    elif not _is_installed():
        sys.path.append(DIRECTORY)


def _check(sdk: str) -> None:
    """A process can load only one of them: protobuf refuses to register the same messages twice."""
    file = getattr(sys.modules[_PACKAGE], "__file__", None) or ""
    loaded = CROSSPLY if file.startswith(DIRECTORY) else PUBLISHED
    if sdk not in (AUTO, loaded):
        raise SdkError(f"this process has loaded {_PACKAGE} already, the {loaded} one")


def _is_installed() -> bool:
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("crossplane")
    locations = list(spec.submodule_search_locations or ()) if spec is not None else []
    return PathFinder.find_spec(_PACKAGE, locations) is not None if locations else False
