"""One rule of a role."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from crossply.apiserver.endpoints.request_info import RequestInfo
from crossply.values import Object
from crossply.values.goquote import quote

ALL = "*"
GROUP = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class Rule:
    """A PolicyRule. Empty `resource_names` means every name."""

    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()

    def __str__(self) -> str:
        fields = (
            ("APIGroups", self.api_groups),
            ("Resources", self.resources),
            ("NonResourceURLs", self.urls),
            ("ResourceNames", self.resource_names),
            ("Verbs", self.verbs),
        )
        return "{" + ", ".join(f"{name}:{quoted(values)}" for name, values in fields if values) + "}"

    def body(self) -> Object:
        """The rule as a PolicyRule."""
        fields: dict[str, tuple[str, ...]] = {
            "apiGroups": self.api_groups,
            "nonResourceURLs": self.urls,
            "resourceNames": self.resource_names,
            "resources": self.resources,
            "verbs": self.verbs,
        }
        return {name: list(values) for name, values in fields.items() if values}


def quoted(values: Iterable[str]) -> str:
    """A list of strings as Go's `%q` prints it."""
    return "[" + " ".join(quote(value) for value in values) + "]"


def parse_rule(rule: Any) -> Rule:
    """Parse a PolicyRule; values that are not lists of strings count as absent."""
    rule = rule if isinstance(rule, dict) else {}
    return Rule(
        _strings(rule.get("verbs")),
        _strings(rule.get("apiGroups")),
        _strings(rule.get("resources")),
        _strings(rule.get("resourceNames")),
        _strings(rule.get("nonResourceURLs")),
    )


def parse_rules(role: Object) -> tuple[Rule, ...]:
    return tuple(parse_rule(rule) for rule in role.get("rules") or ())


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(item for item in value if isinstance(item, str))


def allows(rule: Rule, info: RequestInfo) -> bool:
    if info.verb not in rule.verbs and ALL not in rule.verbs:
        return False
    if not info.is_resource:
        return any(url_matches(url, info.path) for url in rule.urls)
    return (
        (info.group in rule.api_groups or ALL in rule.api_groups)
        and any(resource in rule.resources for resource in spellings(info.resource, info.subresource))
        and (not rule.resource_names or info.name in rule.resource_names)
    )


def spellings(resource: str, subresource: str) -> tuple[str, ...]:
    """How a rule may name a resource, or a subresource of it."""
    if not subresource:
        return resource, ALL
    return f"{resource}/{subresource}", ALL, f"*/{subresource}"


def url_matches(pattern: str, path: str) -> bool:
    """Whether a URL pattern matches a path; a trailing star matches any suffix."""
    return pattern in (ALL, path) or (pattern.endswith(ALL) and path.startswith(pattern.rstrip(ALL)))
