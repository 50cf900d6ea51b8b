"""Code written for the published Python SDK (`crossplane.function`) on ours, unchanged.

The directory of this module holds a package of that name. It is put on the import path on request, or where
the published SDK is not installed; an installed one is never shadowed by accident.

    python -m crossply.sdk.shim main.py --insecure
"""

from __future__ import annotations

import os
import sys

from crossply.sdk.failures import SdkError

AUTO, OURS, PUBLISHED = "auto", "crossply", "published"
CHOICES = (AUTO, OURS, PUBLISHED)
DIRECTORY = os.path.dirname(os.path.abspath(__file__))
"""To be put on the import path, also as PYTHONPATH."""

_PACKAGE = "crossplane.function"


def use(sdk: str = AUTO) -> None:
    """Decide which SDK `import crossplane.function` finds."""
    if _PACKAGE in sys.modules:
        _check(sdk)
        return
    while DIRECTORY in sys.path:
        sys.path.remove(DIRECTORY)
    if sdk == OURS:
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
    """One process has one of them: protobuf refuses to describe the same messages twice."""
    file = getattr(sys.modules[_PACKAGE], "__file__", None) or ""
    loaded = OURS if file.startswith(DIRECTORY) else PUBLISHED
    if sdk not in (AUTO, loaded):
        raise SdkError(f"this process has loaded {_PACKAGE} already, the {loaded} one")


def _is_installed() -> bool:
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("crossplane")
    locations = list(spec.submodule_search_locations or ()) if spec is not None else []
    return PathFinder.find_spec(_PACKAGE, locations) is not None if locations else False
