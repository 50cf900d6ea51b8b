"""Whether the rules of a user cover the rules that they want to grant, and which parts they lack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from crossply.apiserver.auth.rbac.rules import ALL, Rule, url_matches

FULL_AUTHORITY = (Rule((ALL,), (ALL,), (ALL,)), Rule((ALL,), urls=(ALL,)))


MOST_COMPARISONS = 250_000
"""How many comparisons of rules one check may take: a hundred times what ordinary roles need."""


class TooManyParts(Exception):
    """The rules combine too many groups, resources, verbs and names to compare."""


def uncovered(owned: Sequence[Rule], granted: Iterable[Rule]) -> list[Rule]:
    """The parts of `granted` that no rule of `owned` covers, each with one verb, resource and name.

    Raises TooManyParts. A rule that one owned rule covers entirely is never split.
    """
    missing: list[Rule] = []
    left = MOST_COMPARISONS
    for rule in granted:
        left -= len(owned) + 1
        if left < 0:
            raise TooManyParts
        related = [own for own in owned if _shares_anything(own, rule)]
        if any(_covers_all(own, rule) for own in related):
            continue
        left -= _number_of_parts(rule) * (len(related) + 1)
        if left < 0:
            raise TooManyParts
        missing += [part for part in _parts(rule) if not any(_covers(own, part) for own in related)]
    return missing


def _number_of_parts(rule: Rule) -> int:
    about_resources = len(rule.api_groups) * len(rule.resources) * max(1, len(rule.resource_names))
    return len(rule.verbs) * (about_resources + len(rule.urls))


def _shares_anything(own: Rule, rule: Rule) -> bool:
    """Whether a rule can cover any part of another; cheap, with no false negatives."""
    if ALL not in own.verbs and set(own.verbs).isdisjoint(rule.verbs):
        return False
    return bool(rule.urls) or ALL in own.api_groups or not set(own.api_groups).isdisjoint(rule.api_groups)


def _covers_all(own: Rule, rule: Rule) -> bool:
    """Whether a rule covers every resource part of another."""
    return (
        not rule.urls
        and (ALL in own.verbs or set(own.verbs).issuperset(rule.verbs))
        and (ALL in own.api_groups or set(own.api_groups).issuperset(rule.api_groups))
        and (ALL in own.resources or set(own.resources).issuperset(rule.resources))
        and (not own.resource_names or _names_are_among(rule.resource_names, own.resource_names))
    )


def compact(rules: Iterable[Rule]) -> list[Rule]:
    """Join the verbs of parts with the same resource and name, for a readable message."""
    joined: dict[Rule, list[str]] = {}
    for rule in rules:
        # Each verb of a path is listed separately.
        subject = rule if rule.urls else replace(rule, verbs=())
        joined.setdefault(subject, []).extend(rule.verbs)
    return [replace(subject, verbs=tuple(verbs)) for subject, verbs in joined.items()]


def _parts(rule: Rule) -> Iterator[Rule]:
    for group, resource, verb in product(rule.api_groups, rule.resources, rule.verbs):
        part = Rule((verb,), (group,), (resource,))
        if not rule.resource_names:
            yield part
        for name in rule.resource_names:
            yield replace(part, resource_names=(name,))
    for url, verb in product(rule.urls, rule.verbs):
        yield Rule((verb,), urls=(url,))


def _covers(own: Rule, part: Rule) -> bool:
    """Whether a rule covers a part. A part with a URL has no groups and resources."""
    return (
        (ALL in own.verbs or part.verbs[0] in own.verbs)
        and all(ALL in own.api_groups or group in own.api_groups for group in part.api_groups)
        and all(_covers_resource(own, resource) for resource in part.resources)
        and (not own.resource_names or _names_are_among(part.resource_names, own.resource_names))
        and all(any(url_matches(pattern, url) for pattern in own.urls) for url in part.urls)
    )


def _covers_resource(own: Rule, resource: str) -> bool:
    if ALL in own.resources or resource in own.resources:
        return True
    _, slash, subresource = resource.partition("/")
    return bool(slash) and f"*/{subresource}" in own.resources


def _names_are_among(names: tuple[str, ...], owned: tuple[str, ...]) -> bool:
    """Whether every name is owned; no names means all names, which a list cannot cover."""
    return bool(names) and set(owned).issuperset(names)
