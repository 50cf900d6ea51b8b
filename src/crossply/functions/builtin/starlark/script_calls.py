"""The functions that a script calls to desire resources and to read the request.

A worker answers one question at a time, so there is one `ScriptRun` at a time. It collects the calls in the
form of a RunFunctionResponse.
"""

from __future__ import annotations

from typing import Any

import orjson

from crossply.functions.builtin.starlark.libraries import ArgumentError
from crossply.functions.builtin.starlark.resource_body import skipped_body, with_labels
from crossply.values import Object
from crossply.values.durations import parse_duration

UNSET = "\x00unset"
"""Marks an argument that was not passed, where None has a meaning."""

_STATUSES = {"True": 2, "False": 3, "Unknown": 1}
_SEVERITIES = {"Normal": 3, "Warning": 2}
_TARGETS = {"Composite": 1, "CompositeAndClaim": 2}


class Fatal(Exception):
    """The script called fatal()."""


class ScriptRun:
    """What one run of a script reads and collects."""

    def __init__(self, request: Object) -> None:
        observed = request["observed"]
        self.composite: Object = observed["composite"]["resource"]
        self.observed = {name: item["resource"] for name, item in observed["resources"].items()}
        self.required = {
            name: [item["resource"] for item in group["items"]]
            for name, group in {**request["extra_resources"], **request["required_resources"]}.items()
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

    def response_data(self, composite: Any = None, context: Any = None) -> Object:
        """The collected response, and what a response cannot express."""
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
        """Desire a composed resource, unless `when` is false or it has no body."""
        values = orjson.loads(arguments)
        name, body, ready, labels, details, depends_on, external_name, when, skip_reason, preserve = values
        if when is not True or body is None:
            body, result = skipped_body(name, when, skip_reason, preserve, self.observed.get(name))
            self.results.append(result)
            if body is None:
                return
        obj = with_labels(
            body, None if labels is None else ({} if labels == UNSET else labels), self.composite
        )
        if external_name is not None:
            metadata = obj.setdefault("metadata", {})
            metadata.setdefault("annotations", {})["crossplane.io/external-name"] = external_name
        self.resources[name] = {
            "resource": obj,
            "ready": 0 if ready is None else (1 if ready else 2),
            "connection_details": _encode_details(details or {}),
        }
        self.dependencies += [(name, *_dependency(dependency)) for dependency in depends_on or ()]

    def do_skip_resource(self, name: str, reason: str) -> None:
        """Remove a resource that an earlier step desires."""
        if name in self.resources:
            raise ArgumentError(f"resource {name!r} was desired by this script")
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
        numbers = {"status": _enum_number(status, _STATUSES), "target": _enum_number(target, _TARGETS)}
        self.conditions.append({"type": type, "reason": reason, "message": message, **numbers})

    def do_emit_event(self, severity: str, message: str, target: str = "Composite") -> None:
        """Add an event of the XR."""
        numbers = {"severity": _enum_number(severity, _SEVERITIES), "target": _enum_number(target, _TARGETS)}
        self.results.append({"message": message, **numbers})

    def do_fatal(self, message: str) -> None:
        """Stop the script and the pipeline."""
        self.fatal = message
        raise Fatal

    def do_set_connection_details(self, details: dict[str, str]) -> None:
        """Add connection details of the XR."""
        self.connection.update(_encode_details(details))

    def do_get_observed(self, name: str, path: Any, default: Any = None) -> Any:
        """A field of an observed resource."""
        return _get_path(self.observed.get(name), path, default)

    def do_is_observed(self, name: str) -> bool:
        """Whether a composed resource exists."""
        return name in self.observed

    def do_observed_body(self, name: str, default: Any = None) -> Any:
        """An observed resource."""
        return self.observed.get(name, default)

    def do_get_condition(self, name: str, type: str) -> dict[str, str] | None:  # noqa: A002
        """A condition of an observed resource."""
        conditions = _get_path(self.observed.get(name), "status.conditions", [])
        for condition in conditions if isinstance(conditions, list) else ():
            if isinstance(condition, dict) and condition.get("type") == type:
                fields = ("status", "reason", "message", "lastTransitionTime")
                return {field: condition.get(field, "") for field in fields}
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
        """Require resources that the XR does not own."""
        selector: Object = {"api_version": apiVersion, "kind": kind}
        if match_name is not None:
            selector["match_name"] = match_name
        elif match_labels is not None:
            selector["match_labels"] = {"labels": match_labels}
        else:
            raise ArgumentError("match_name or match_labels is needed")
        if namespace is not None:
            selector["namespace"] = namespace
        self.requirements[name] = selector

    def do_get_extra_resource(self, name: str, path: Any = None, default: Any = None) -> Any:
        """The first required resource of a name, or a field of it."""
        resources = self.required.get(name)
        return _get_path(resources[0], path, default) if resources else default

    def do_get_extra_resources(self, name: str, path: Any = None, default: Any = ()) -> Any:
        """All required resources of a name, or a field of each that has it."""
        resources = self.required.get(name)
        if not resources:
            return list(default) if default == () else default
        values = [_get_path(resource, path, None) for resource in resources]
        return [value for value in values if value is not None]

    def do_set_response_ttl(self, duration: Any) -> None:
        """Set how long the response may be cached."""
        if isinstance(duration, int) and not isinstance(duration, bool):
            nanoseconds = duration * 1_000_000_000
        else:
            try:
                nanoseconds = parse_duration(duration)
            except (ValueError, AttributeError, TypeError):
                raise ArgumentError("needs a duration such as 30s, or seconds") from None
        if nanoseconds < 0:
            raise ArgumentError("a duration must not be negative")
        self.ttl = f"{nanoseconds // 1_000_000_000}.{nanoseconds % 1_000_000_000:09d}s"


NAMES = [name.removeprefix("do_") for name in dir(ScriptRun) if name.startswith("do_")]
"""The names of the functions in `prelude.star`."""


def _get_path(value: Any, path: Any, default: Any) -> Any:
    if path is None:
        return value
    for name in path.split(".") if isinstance(path, str) else path:
        value = value.get(name) if isinstance(value, dict) else None
    return default if value is None else value


def _enum_number(name: str, numbers: dict[str, int]) -> int:
    if name not in numbers:
        raise ArgumentError(f"{name!r} must be one of {', '.join(numbers)}")
    return numbers[name]


def _dependency(dependency: Any) -> tuple[str, str]:
    """An entry of `depends_on`: a resource, or a field of one that must be set."""
    if isinstance(dependency, list) and len(dependency) == 2:
        return _dependency(dependency[0])[0], str(dependency[1])
    name = dependency.get("name") if isinstance(dependency, dict) else dependency
    if not isinstance(name, str):
        raise ArgumentError("depends_on needs resources, names, or pairs of these and a field")
    return name, ""


def _encode_details(details: dict[str, str]) -> dict[str, str]:
    from base64 import b64encode

    if not all(isinstance(text, str) for pair in details.items() for text in pair):
        raise ArgumentError("connection details must be texts")
    return {key: b64encode(value.encode()).decode() for key, value in details.items()}
