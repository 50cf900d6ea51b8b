"""Rights that a Provider lacks, read from what it writes: the API server's own words for a refusal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import NamedTuple

from crossply.compose.events import WARNING, Event
from crossply.control.runtimes.manifest_metadata import Subject

_REASON, _MOST = "MissingRight", 20
_FORBIDDEN = re.compile(
    r"is forbidden: User \\?\"(?P<user>[^\"\\]+)\\?\" cannot (?P<verb>[a-z]+) resource "
    r"\\?\"(?P<resource>[a-z0-9./-]+)\\?\" in API group \\?\"(?P<group>[a-z0-9.-]*)\\?\""
)
"""Loggers that write JSON have a backslash before each quotation mark."""
_LONGEST_LINE = 4096


class MissingRight(NamedTuple):
    """What a service account may not do."""

    verb: str
    resource: str
    group: str

    def message(self, package: str, namespace: str, account: str) -> str:
        """What is missing, and how to grant it."""
        kind = f"{self.resource}.{self.group}" if self.group else self.resource
        # client-go lists what it watches, and the other way round.
        verbs = "get,list,watch" if self.verb in ("list", "watch") else self.verb
        name = f"{package}-{self.verb}-{self.resource.replace('/', '-')}"
        role = ["kubectl", "create", "clusterrole", name, f"--verb={verbs}", f"--resource={kind}"]
        binding = ["kubectl", "create", "clusterrolebinding", name, f"--clusterrole={name}"]
        binding.append(f"--serviceaccount={namespace}:{account}")
        return (
            f"the provider may not {self.verb} {kind}, and tries to. To grant it: "
            f"{shlex.join(role)} && {shlex.join(binding)}"
        )


def missing_right(line: str, account: str) -> MissingRight | None:
    """The right that a line says a service account lacks; `account` is `NAMESPACE:NAME`."""
    if "is forbidden" not in line[:_LONGEST_LINE]:
        return None
    match = _FORBIDDEN.search(line[:_LONGEST_LINE])
    if match is None or match["user"] != f"system:serviceaccount:{account}":
        return None
    return MissingRight(match["verb"], match["resource"], match["group"])


class RightsListener:
    """Records an event for each right that the API server denies a Provider, once; listens to its output."""

    def __init__(self, subject: Subject, account: str, record: Callable[[Event], None]) -> None:
        """`record` is called from the thread that reads the output."""
        self._subject, self._account, self._record = subject, account, record
        self._known: set[MissingRight] = set()

    def __call__(self, line: str) -> None:
        subject = self._subject
        right = missing_right(line, f"{subject.namespace}:{self._account}")
        if right is None or right in self._known or len(self._known) >= _MOST:
            return
        self._known.add(right)
        message = right.message(subject.package, subject.namespace, self._account)
        self._record(Event(WARNING, _REASON, message))
