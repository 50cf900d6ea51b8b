"""The file that says which packages the functions of a pipeline are."""

from __future__ import annotations

from collections.abc import Iterable

_PUBLISHED = "xpkg.crossplane.io/crossplane-contrib"
VERSIONS = {"function-patch-and-transform": "v0.9.0", "function-auto-ready": "v0.5.0"}
"""The functions that new Compositions use; all of them are built in."""


def functions_text(names: Iterable[str] = VERSIONS) -> str:
    """A functions.yaml with published functions."""
    return "---\n".join(
        f"""\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata:
  name: {name}
spec:
  package: {_PUBLISHED}/{name}:{VERSIONS[name]}
"""
        for name in names
    )
