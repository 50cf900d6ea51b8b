"""Function revisions as objects."""

from __future__ import annotations

from crossply.values import Object


def revision(
    number: int,
    *,
    active: bool = True,
    endpoint: str = "dns:///f:9443",
    package: str = "f",
    capabilities: list[str] | None = None,
    **labels: str,
) -> Object:
    status: Object = {"endpoint": endpoint} if endpoint else {}
    if capabilities is not None:
        status["capabilities"] = capabilities
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "FunctionRevision",
        "metadata": {
            "name": f"{package}-{number}",
            "labels": {"pkg.crossplane.io/package": package, **labels},
        },
        "spec": {
            "image": f"example.org/f:v{number}",
            "revision": number,
            "desiredState": "Active" if active else "Inactive",
        },
        "status": status,
    }
