"""A Configuration: a package of definitions and Compositions."""

from __future__ import annotations

from crossply.kinds.package import Package, parse_package, reader
from crossply.values import Object


def parse_configuration(obj: Object) -> Package:
    """Read a Configuration."""
    root = reader(obj)
    configuration = parse_package(root)
    if configuration.active_limit != 1:
        raise root.object("spec").wrong(
            "must be 1, as only one revision can be active", "activeRevisionLimit"
        )
    return configuration
