"""The functions by which a script says what it wants, and looks at what there is.

One `Run` at a time: a worker serves one question after the other. What the script says is collected here, in
the shape of a RunFunctionResponse.
"""

from __future__ import annotations

from typing import Any

import orjson

from crossply.functions.builtin.starlark.libraries import Wrong
from crossply.functions.builtin.starlark.resource_body import labelled, skipped_body
from crossply.values import Object
from crossply.values.durations import parse_duration

UNSET = "\x00unset"
"""What stands for an argument that was not given, where None means something."""

_STATUSES = {"True": 2, "False": 3, "Unknown": 1}
_SEVERITIES = {"Normal": 3, "Warning": 2}
_TARGETS = {"Composite": 1, "CompositeAndClaim": 2}


class Fatal(Exception):
    """The script called fatal()."""


class Run:
    """What one run of a script sees and says."""

    def __init__(self, request: Object) -> None:
        observed = request["observed"]
        self.composite: Object = observed["composite"]["resource"]
        self.observed = {name: each["resource"] for name, each in observed["resources"].items()}
        self.required = {
            name: [each["resource"] for each in found["items"]]
            for name, found in {**request["extra_resources"], **request["required_resources"]}.items()
        }
        self.resources: Object = {}
        self.skipped: list[str] = []
        self.dependencies: list[tuple[str, str, str]] = []
        self.conditions: list[Object] = []
        self.results: list[Object] = []
        self.requirements: Object = {}
        self.connection: dict[str, str] = {}
        self.ttl: str | None = None
        self.fatal: str | None = None

    def said(self, composite: Any = None, context: Any = None) -> Object:
        """All that was said, as a response, and what a response has no words for."""
        desired: Object = {"resources": self.resources}
        if composite or self.connection:
            desired["composite"] = {"resource": composite, "connection_details": self.connection}
        response: Object = {
            "desired": desired,
            "context": context,
            "conditions": self.conditions,
            "results": self.results,
        }
        if self.requirements:
            response["requirements"] = {"resources": self.requirements}
        if self.ttl is not None:
            response["meta"] = {"ttl": self.ttl}
        return {"response": response, "skipped": self.skipped, "dependencies": self.dependencies}

    def do_resource(self, arguments: str) -> None:
        """Desire a composed resource, unless the gates of the call say otherwise."""
        given = orjson.loads(arguments)
        name, body, ready, labels, details, depends_on, external_name, when, skip_reason, preserve = given
        if when is not True or body is None:
            body, result = skipped_body(name, when, skip_reason, preserve, self.observed.get(name))
            self.results.append(result)
            if body is None:
                return
        obj = labelled(body, None if labels is None else ({} if labels == UNSET else labels), self.composite)
        if external_name is not None:
            metadata = obj.setdefault("metadata", {})
            metadata.setdefault("annotations", {})["crossplane.io/external-name"] = external_name
        self.resources[name] = {
            "resource": obj,
            "ready": 0 if ready is None else (1 if ready else 2),
            "connection_details": _encoded(details or {}),
        }
        self.dependencies += [(name, *_dependency(each)) for each in depends_on or ()]

    def do_skip_resource(self, name: str, reason: str) -> None:
        """Take back a resource that a step before desired."""
        if name in self.resources:
            raise Wrong(f"resource {name!r} was desired by this script")
        if name not in self.skipped:
            self.skipped.append(name)
            self.do_emit_event("Warning", f"Skipping resource {name!r}: {reason}")

    def do_set_condition(
        self,
        type: str,  # noqa: A002
        status: str,
        reason: str,
        message: str,
        target: str = "Composite",
    ) -> None:
        """Set a condition of the XR."""
        numbers = {"status": _chosen(status, _STATUSES), "target": _chosen(target, _TARGETS)}
        self.conditions.append({"type": type, "reason": reason, "message": message, **numbers})

    def do_emit_event(self, severity: str, message: str, target: str = "Composite") -> None:
        """Tell of something in an event of the XR."""
        numbers = {"severity": _chosen(severity, _SEVERITIES), "target": _chosen(target, _TARGETS)}
        self.results.append({"message": message, **numbers})

    def do_fatal(self, message: str) -> None:
        """End the script, and the pipeline."""
        self.fatal = message
        raise Fatal

    def do_set_connection_details(self, details: dict[str, str]) -> None:
        """Add connection details of the XR."""
        self.connection.update(_encoded(details))

    def do_get_observed(self, name: str, path: Any, default: Any = None) -> Any:
        """A field of an observed resource."""
        return _at(self.observed.get(name), path, default)

    def do_is_observed(self, name: str) -> bool:
        """Whether a composed resource exists."""
        return name in self.observed

    def do_observed_body(self, name: str, default: Any = None) -> Any:
        """An observed resource."""
        return self.observed.get(name, default)

    def do_get_condition(self, name: str, type: str) -> dict[str, str] | None:  # noqa: A002
        """A condition of an observed resource."""
        found = _at(self.observed.get(name), "status.conditions", [])
        for each in found if isinstance(found, list) else ():
            if isinstance(each, dict) and each.get("type") == type:
                fields = ("status", "reason", "message", "lastTransitionTime")
                return {field: each.get(field, "") for field in fields}
        return None

    def do_require_resource(
        self,
        name: str,
        apiVersion: str,  # noqa: N803 - as scripts write it
        kind: str,
        match_name: str | None = None,
        match_labels: dict[str, str] | None = None,
        namespace: str | None = None,
    ) -> None:
        """Ask for resources that the XR is not composed of."""
        selector: Object = {"api_version": apiVersion, "kind": kind}
        if match_name is not None:
            selector["match_name"] = match_name
        elif match_labels is not None:
            selector["match_labels"] = {"labels": match_labels}
        else:
            raise Wrong("match_name or match_labels is needed")
        if namespace is not None:
            selector["namespace"] = namespace
        self.requirements[name] = selector

    def do_get_extra_resource(self, name: str, path: Any = None, default: Any = None) -> Any:
        """The first resource that was asked for by a name, or a field of it."""
        found = self.required.get(name)
        return _at(found[0], path, default) if found else default

    def do_get_extra_resources(self, name: str, path: Any = None, default: Any = ()) -> Any:
        """All resources that were asked for by a name, or a field of each that has it."""
        found = self.required.get(name)
        if not found:
            return list(default) if default == () else default
        values = [_at(each, path, None) for each in found]
        return [value for value in values if value is not None]

    def do_set_response_ttl(self, duration: Any) -> None:
        """Say how long the answer may be reused."""
        if isinstance(duration, int) and not isinstance(duration, bool):
            nanoseconds = duration * 1_000_000_000
        else:
            try:
                nanoseconds = parse_duration(duration)
            except (ValueError, AttributeError, TypeError):
                raise Wrong("needs a duration such as 30s, or seconds") from None
        if nanoseconds < 0:
            raise Wrong("a duration must not be negative")
        self.ttl = f"{nanoseconds // 1_000_000_000}.{nanoseconds % 1_000_000_000:09d}s"


NAMES = [name.removeprefix("do_") for name in dir(Run) if name.startswith("do_")]
"""The functions, by the names under which `prelude.star` knows them."""


def _at(value: Any, path: Any, default: Any) -> Any:
    if path is None:
        return value
    for name in path.split(".") if isinstance(path, str) else path:
        value = value.get(name) if isinstance(value, dict) else None
    return default if value is None else value


def _chosen(word: str, numbers: dict[str, int]) -> int:
    if word not in numbers:
        raise Wrong(f"{word!r} must be one of {', '.join(numbers)}")
    return numbers[word]


def _dependency(given: Any) -> tuple[str, str]:
    """What `depends_on` names: a resource, or a field of one that must have a value."""
    if isinstance(given, list) and len(given) == 2:
        return _dependency(given[0])[0], str(given[1])
    name = given.get("name") if isinstance(given, dict) else given
    if not isinstance(name, str):
        raise Wrong("depends_on needs resources, names, or pairs of these and a field")
    return name, ""


def _encoded(details: dict[str, str]) -> dict[str, str]:
    from base64 import b64encode

    if not all(isinstance(each, str) for pair in details.items() for each in pair):
        raise Wrong("connection details must be texts")
    return {key: b64encode(value.encode()).decode() for key, value in details.items()}
