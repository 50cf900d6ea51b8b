"""What a script may import and call: modules that only compute.

This is no security boundary: Python code can get around it and then meets the sandbox. It exists so that
a script gets an error that names the problem.
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
        *(
            "html",
            "ipaddress",
            "itertools",
            "json",
            "keyword",
            "logging",
            "math",
            "numbers",
            "operator",
            "pprint",
        ),
        *("random", "re", "reprlib", "secrets", "shlex", "statistics", "string", "struct", "textwrap"),
        *("time", "types", "typing", "unicodedata", "urllib.parse", "uuid", "warnings", "weakref", "yaml"),
        *("zlib", "google.protobuf.json_format", "google.protobuf.struct_pb2"),
    )
)
"""What scripts may import besides `crossplane.function`."""

_SDK = (
    "crossplane.function.logging",
    "crossplane.function.proto.v1.run_function_pb2",
    "crossplane.function.request",
    "crossplane.function.resource",
    "crossplane.function.response",
)
LAZY_IMPORTS = ("_strptime", "encodings.idna", "encodings.latin_1", "encodings.utf_16")
"""Modules that libraries import lazily, which fails inside the sandbox."""

_REMOVED_BUILTINS = ("breakpoint", "copyright", "credits", "exit", "help", "input", "license", "open", "quit")
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


_MODULES_HINT = (
    "docs/reference/functions/{page} lists those that are; the published function has all: run it with "
    "--function-runtime container, or annotate the Function with crossply.dev/runtime: container"
)


def import_sdk() -> None:
    """Import the SDK and lazily imported modules, before the sandbox is entered."""
    from crossply.sdk import shim

    shim.use(shim.CROSSPLY)
    for name in (*_SDK, *LAZY_IMPORTS, "google.protobuf.descriptor_pb2"):
        import_module(name)


def import_mentioned_modules(source: str) -> None:
    """Import the allowed modules whose names occur in a script."""
    words = set(re.findall(r"\w+", source))
    for name in MODULES:
        if words.issuperset(name.split(".")):
            import_module(name)


class ScriptImports:
    """The `__import__` of scripts: modules that only compute, and packages of the script itself."""

    def __init__(self, page: str = "python.md", own: frozenset[str] = frozenset()) -> None:
        """`page` is the documentation that lists the modules, `own` has the top-level names of packages."""
        self._hint = _MODULES_HINT.format(page=page)
        self._always = frozenset(("__future__", "crossplane")) | own

    def __call__(
        self, name: str, global_names: Any = None, local: Any = None, from_list: Any = (), level: int = 0
    ) -> Any:
        first = str((global_names or {}).get("__package__")) if level else name
        if first.partition(".")[0] in self._always or (name in sys.modules and _is_allowed(name)):
            return builtins.__import__(name, global_names, local, from_list, level)
        raise ImportError(f"module {name!r} is not there for scripts ({self._hint})")


def script_builtins(imports: ScriptImports) -> dict[str, Any]:
    """Python's builtins without those that access the system."""
    names = {name: value for name, value in vars(builtins).items() if name not in _REMOVED_BUILTINS}
    return {**names, "__import__": imports}


def _is_allowed(name: str) -> bool:
    return name in MODULES or name in LAZY_IMPORTS or any(module.startswith(f"{name}.") for module in MODULES)


def audit_hook(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse access to the system with an error that names it."""
    for prefix, resource in _FORBIDDEN:
        if event.startswith(prefix):
            raise PermissionError(f"scripts have no access to {resource} ({event})")
