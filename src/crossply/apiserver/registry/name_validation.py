"""Validates names, label keys and label values, with Kubernetes' sentences."""

from __future__ import annotations

import re

from crossply.values.bounded_cache import cached_for_short_texts

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_DNS_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")

_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_DNS_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_DNS_1035_RULE = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
    "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_QUALIFIED_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_LABEL_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    "for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def too_long_problem(limit: int, of: str = "characters") -> str:
    """The sentence for a text of too many characters, or of too many bytes."""
    return f"must be no more than {limit} {of}"


@cached_for_short_texts(4096)
def subdomain_problems(name: str) -> tuple[str, ...]:
    """A DNS subdomain: the name of most objects."""
    problems = []
    if len(name) > 253:
        problems.append(too_long_problem(253))
    if not _SUBDOMAIN.fullmatch(name):
        problems.append(_SUBDOMAIN_RULE)
    return tuple(problems)


@cached_for_short_texts(1024)
def dns_label_problems(name: str) -> tuple[str, ...]:
    """A DNS label: the name of a namespace."""
    problems = []
    if len(name) > 63:
        problems.append(too_long_problem(63))
    if not _DNS_LABEL.fullmatch(name):
        # A valid subdomain that is not a label can only have dots.
        problems.append("must not contain dots" if _SUBDOMAIN.fullmatch(name) else _DNS_LABEL_RULE)
    return tuple(problems)


@cached_for_short_texts(1024)
def dns_1035_problems(name: str) -> tuple[str, ...]:
    """A DNS label that starts with a letter: the name of a service."""
    problems = []
    if len(name) > 63:
        problems.append(too_long_problem(63))
    if not _DNS_1035.fullmatch(name):
        problems.append(_DNS_1035_RULE)
    return tuple(problems)


@cached_for_short_texts(1024)
def path_segment_problems(name: str) -> tuple[str, ...]:
    """A name that must only fit into a URL: the name of a role."""
    if name in (".", ".."):
        return (f"may not be '{name}'",)
    return tuple(f"may not contain '{char}'" for char in ("/", "%") if char in name)


@cached_for_short_texts(4096)
def qualified_name_problems(key: str) -> tuple[str, ...]:
    """The key of a label, an annotation or a finalizer."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        hint = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return (f"a valid label key {_QUALIFIED_RULE}{hint}",)
    problems = []
    if slash and not prefix:
        problems.append("prefix part must be non-empty")
    elif slash:
        problems += [f"prefix part {problem}" for problem in subdomain_problems(prefix)]
    if not name:
        problems.append("name part must be non-empty")
    elif len(name) > 63:
        problems.append(f"name part {too_long_problem(63, 'bytes')}")
    if not _QUALIFIED.fullmatch(name):
        problems.append(f"name part {_QUALIFIED_RULE}")
    return tuple(problems)


@cached_for_short_texts(4096)
def label_value_problems(value: str) -> tuple[str, ...]:
    problems = []
    if len(value.encode()) > 63:
        problems.append(too_long_problem(63, "bytes"))
    if not _LABEL_VALUE.fullmatch(value):
        problems.append(_LABEL_VALUE_RULE)
    return tuple(problems)
