"""What the image of a function or a provider needs of Crossply: which modules, and which dependencies.

It is what serving needs, and what the program imports itself.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crossply.xpkg.crossply_modules import NAME, imported_modules, own_imports

_PROTOBUF = "protobuf"
_NEED_PROTOBUF = ("crossplane.", "google.protobuf")
"""The interface of the published SDK is made of protobuf's messages."""


class Needs(NamedTuple):
    """Modules of Crossply, with all that they import, and the distributions that these import."""

    modules: tuple[str, ...]
    requirements: tuple[str, ...]


FUNCTION = Needs(("crossply.sdk",), ("grpcio", "orjson"))
"""What a function that is written with the SDK needs to be served."""
PROVIDER = Needs(("crossply.provider",), ("aiohttp", "orjson", "PyYAML"))
"""What a provider that is written with the provider kit needs to be served."""

SDK_NAME, SDK_EXTRAS = "crossply-sdk", {"function": FUNCTION, "provider": PROVIDER}
"""The distribution that has what both need; what they require are extras of it."""


def needs_of(sources: Iterable[bytes], serving: Needs) -> Needs:
    """What serving needs, and what the Python files of a program import.

    If one of the files is not for this version of Python, its imports are unknown: then all modules and
    protobuf are needed.
    """
    try:
        names = {name for source in sources for name in imported_modules(source)}
    except SyntaxError:
        return Needs((NAME,), (*serving.requirements, _PROTOBUF))
    needs_protobuf = any(f"{name}.".startswith(_NEED_PROTOBUF) for name in names)
    requirements = (*serving.requirements, _PROTOBUF) if needs_protobuf else serving.requirements
    return Needs((*serving.modules, *own_imports(sorted(names))), requirements)


def sources_of_wheels(paths: Iterable[str]) -> Iterator[bytes]:
    """The Python files in wheels."""
    for path in paths:
        with zipfile.ZipFile(path) as wheel:
            yield from (wheel.read(name) for name in wheel.namelist() if name.endswith(".py"))


def sources_of_directories(paths: Iterable[str]) -> Iterator[bytes]:
    """The Python files in directories."""
    for path in paths:
        for folder, _, names in os.walk(path):
            for name in names:
                if name.endswith(".py"):
                    with open(os.path.join(folder, name), "rb") as file:
                        yield file.read()
