"""What a script finds around it: modules that only compute, and no way to ask for others.

These are manners, not walls: whoever knows Python gets around them, and then stands before the walls of
`confined`. They are here so that a script that tries gets an error that says what is the matter.
"""

from __future__ import annotations

import builtins
import re
import sys
from importlib import import_module
from typing import Any

MODULES = frozenset(
    (
        *("abc", "asyncio", "base64", "binascii", "bisect", "calendar", "cmath", "collections"),
        *("collections.abc", "colorsys", "contextlib", "copy", "csv", "dataclasses", "datetime", "decimal"),
        *("difflib", "enum", "fnmatch", "fractions", "functools", "graphlib", "hashlib", "heapq", "hmac"),
        *("html", "ipaddress", "itertools", "json", "keyword", "math", "numbers", "operator", "pprint"),
        *("random", "re", "reprlib", "secrets", "shlex", "statistics", "string", "struct", "textwrap"),
        *("time", "types", "typing", "unicodedata", "urllib.parse", "uuid", "warnings", "weakref", "yaml"),
        *("zlib", "google.protobuf.json_format", "google.protobuf.struct_pb2"),
    )
)
"""What scripts may import, beside `crossplane.function`."""

_SDK = (
    "crossplane.function.logging",
    "crossplane.function.proto.v1.run_function_pb2",
    "crossplane.function.request",
    "crossplane.function.resource",
    "crossplane.function.response",
)
_LATER = (
    "_strptime",
    "encodings.idna",
    "encodings.latin_1",
    "encodings.utf_16",
    "google.protobuf.descriptor_pb2",
)
"""What libraries import only when they need it, which is too late then."""

_MISSING = ("breakpoint", "copyright", "credits", "exit", "help", "input", "license", "open", "quit")
_FORBIDDEN = (
    ("open", "files"),
    ("os.", "the operating system"),
    ("socket.", "the network"),
    ("subprocess.", "processes"),
    ("ctypes.", "other programs' code"),
    ("urllib.", "the network"),
    ("shutil.", "files"),
    ("tempfile.", "files"),
    ("glob.", "files"),
    ("mmap.", "files"),
    ("fcntl.", "files"),
    ("signal.", "signals"),
)


_WHERE_MODULES_ARE = (
    "docs/reference/functions/python.md lists those that are; the published function has all: run it with "
    "--function-runtime container, or annotate the Function with crossply.dev/runtime: container"
)


def import_the_sdk() -> None:
    """Import what every script may use."""
    from crossply.sdk import shim

    shim.use(shim.OURS)
    for name in (*_SDK, *_LATER):
        import_module(name)


def import_for(source: str) -> None:
    """Import the modules whose names a script mentions."""
    words = set(re.findall(r"\w+", source))
    for name in MODULES:
        if words.issuperset(name.split(".")):
            import_module(name)


def builtins_for_scripts() -> dict[str, Any]:
    """Python's own names, without those that reach out."""
    names = {name: value for name, value in vars(builtins).items() if name not in _MISSING}
    return {**names, "__import__": _import}


def _import(name: str, given: Any = None, local: Any = None, wanted: Any = (), level: int = 0) -> Any:
    top = name.partition(".")[0]
    if top in ("__future__", "crossplane") or (name in sys.modules and _is_allowed(name)):
        return builtins.__import__(name, given, local, wanted, level)
    raise ImportError(f"module {name!r} is not there for scripts ({_WHERE_MODULES_ARE})")


def _is_allowed(name: str) -> bool:
    return name in MODULES or name in _LATER or any(each.startswith(f"{name}.") for each in MODULES)


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: what reaches out is refused, in words."""
    for prefix, what in _FORBIDDEN:
        if event.startswith(prefix):
            raise PermissionError(f"scripts have no access to {what} ({event})")
