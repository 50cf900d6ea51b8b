"""The resources that are encrypted, named as in Kubernetes' EncryptionConfiguration."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from crossply.apiserver.storage import EncryptionUnusable

_PATTERN = re.compile(r"[a-z0-9][a-z0-9.-]*|\*\.(\*|[a-z0-9.-]*)")


def check_resources(patterns: Iterable[Any], place: str) -> tuple[str, ...]:
    """The patterns, if each of them can match a resource."""
    names = tuple(patterns)
    for name in names:
        if not isinstance(name, str) or not _PATTERN.fullmatch(name):
            raise EncryptionUnusable(
                f"{place} has something that is no resource",
                hint="name resources as secrets, deployments.apps, *.apps or *.*",
            )
    return names
