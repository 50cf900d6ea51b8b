"""JSON in Python code: names of fields in snake case, of classes in Pascal case, and values as literals."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Collection
from typing import Any

# Words that annotations and methods of generated classes use: a field of that name would hide them.
_RESERVED = frozenset(
    {
        *(
            "Any",
            "Literal",
            "Mapping",
            "Self",
            "annotations",
            "bool",
            "classmethod",
            "cls",
            "dataclass",
            "dict",
        ),
        *("each", "field", "float", "found", "from_dict", "int", "key", "list", "self", "str", "to_dict"),
        *("value",),
    }
)
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+|[0-9]+")


def field_name(key: str, used: Collection[str]) -> str:
    """The name of a field: `clusterIPs` is `cluster_ips`, `class` is `class_`."""
    name = "_".join(_words(key)) or "field"
    if name[0].isdigit():
        name = f"field_{name}"
    if keyword.iskeyword(name) or name in _RESERVED:
        name += "_"
    return _free(name, used)


def kind_name(kind: str, used: Collection[str]) -> str:
    """The name of the class of a kind: that of the kind, wherever it can be one."""
    usable = kind.isidentifier() and not keyword.iskeyword(kind) and kind not in _RESERVED
    return _free(kind, used, "") if usable else class_name("", kind, used)


def class_name(parent: str, key: str, used: Collection[str]) -> str:
    """The name of the class of a field: that of its parent, and its own."""
    name = parent + "".join(word[:1].upper() + word[1:] for word in _words(key))
    if not name or name[0].isdigit() or keyword.iskeyword(name) or name in _RESERVED:
        name = f"Model{name}"
    return _free(name, used, "")


def module_name(group: str, version: str) -> str:
    """The name of the module for a group and version: `example.org/v1` is `example_org_v1`."""
    name = "_".join(part for part in re.split(r"[^a-z0-9]+", f"{group}/{version}".lower()) if part)
    return f"models_{name}" if not name or name[0].isdigit() else name


def _words(key: str) -> list[str]:
    # In plurals of acronyms (`clusterIPs`) the s belongs to the acronym.
    plain = re.sub(r"([A-Z]{2,})s(?![a-z])", lambda match: match.group(1).capitalize() + "s", key)
    return [word.lower() for word in _WORDS.findall(plain)]


def _free(name: str, used: Collection[str], joint: str = "_") -> str:
    number, candidate = 2, name
    while candidate in used:
        candidate = f"{name.rstrip('_')}{joint}{number}"
        number += 1
    return candidate


def literal(value: Any) -> str:
    """A JSON value as Python writes it."""
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(key)}: {literal(item)}' for key, item in value.items())}}}"
    return repr(value)
