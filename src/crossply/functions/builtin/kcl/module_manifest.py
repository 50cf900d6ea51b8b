"""kcl.mod: the name of a module, its dependencies, and how it is compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.functions.builtin.kcl.module_failures import ModuleError
from crossply.values import Object

MANIFEST, LOCK = "kcl.mod", "kcl.mod.lock"
DEFAULT_REGISTRY = "oci://ghcr.io/kcl-lang"
"""Where a dependency with nothing but a version comes from."""

_MAX_TEXT = 256 << 10
_MAX_PERIODS = 200
"""Of a line: the time that Python takes for a key grows with the square of its parts."""
_PROFILE_FLAGS = {"disable_none": "disableNone", "sort_keys": "sortKeys"}
_PROFILE_LISTS = {"selectors": "pathSelectors", "overrides": "overrides", "arguments": "arguments"}


class Dependency(NamedTuple):
    """One entry of `[dependencies]`."""

    name: str
    path: str = ""
    """A directory, relative to the module."""
    oci: str = ""
    git: str = ""
    version: str = ""
    package: str = ""
    """The name of the module in a repository of several."""

    @property
    def alias(self) -> str:
        """The name that programs import."""
        return self.name.replace("-", "_")


class Manifest(NamedTuple):
    """What kcl.mod says."""

    name: str = ""
    version: str = ""
    dependencies: tuple[Dependency, ...] = ()
    entries: tuple[str, ...] = ()
    config: Object = {}  # noqa: RUF012 - read only
    """Settings of `[profile]` by their names in the `config` of an input."""


def read_manifest(text: str, place: str) -> Manifest:
    """Read kcl.mod; raises ModuleError."""
    content = _toml(text, place)
    package, profile = (_table(content, name, place) for name in ("package", "profile"))
    return Manifest(
        _text(package, "name"),
        _text(package, "version"),
        tuple(
            _dependency(name, value, place)
            for name, value in sorted(_table(content, "dependencies", place).items())
        ),
        _texts(profile, "entries"),
        {
            **{ours: profile[theirs] is True for theirs, ours in _PROFILE_FLAGS.items() if theirs in profile},
            **{ours: list(_texts(profile, theirs)) for theirs, ours in _PROFILE_LISTS.items()},
        },
    )


def read_dependencies(text: str) -> tuple[Dependency, ...]:
    """The dependencies of an input: the text below `[dependencies]` in a kcl.mod."""
    return read_manifest(f"[dependencies]\n{text}", "spec.dependencies").dependencies


def read_sums(text: str) -> dict[str, str]:
    """The checksums in kcl.mod.lock, by the names of dependencies."""
    entries = _table(_toml(text, LOCK), "dependencies", LOCK)
    return {
        name: entry["sum"]
        for name, entry in entries.items()
        if isinstance(entry, dict) and isinstance(entry.get("sum"), str) and entry["sum"]
    }


def _toml(text: str, place: str) -> Object:
    import tomllib

    if len(text) > _MAX_TEXT:
        raise ModuleError(f"cannot read {place}: it is longer than {_MAX_TEXT >> 10} KiB")
    if any(line.count(".") > _MAX_PERIODS for line in text.splitlines()):
        raise ModuleError(f"cannot read {place}: a line has more than {_MAX_PERIODS} periods")
    try:
        return tomllib.loads(text)
    except ValueError as error:  # also of a number that is too long
        raise ModuleError(f"cannot read {place}: {error}") from None
    except RecursionError:
        raise ModuleError(f"cannot read {place}: it nests too deep") from None


def _table(content: Object, name: str, place: str) -> Object:
    value = content.get(name, {})
    if not isinstance(value, dict):
        raise ModuleError(f"cannot read {place}: {name} must be a table")
    return value


def _dependency(name: str, value: Any, place: str) -> Dependency:
    if isinstance(value, str):
        return Dependency(name, oci=f"{DEFAULT_REGISTRY}/{name}", version=value)
    if not isinstance(value, dict):
        raise ModuleError(f"cannot read {place}: dependency {name} must be a version or a table")
    version = _text(value, "tag") or _text(value, "version")
    package = _text(value, "package")
    if _text(value, "path"):
        return Dependency(name, path=_text(value, "path"), package=package)
    if "git" in value:
        return Dependency(name, git=_text(value, "git"), version=version, package=package)
    repository = _text(value, "repo")
    host = _text(value, "reg") or DEFAULT_REGISTRY.removeprefix("oci://").partition("/")[0]
    oci = _text(value, "oci") or (f"oci://{host}/{repository}" if repository else "")
    return Dependency(
        name, oci=oci or f"{DEFAULT_REGISTRY}/{package or name}", version=version, package=package
    )


def _text(table: Object, name: str) -> str:
    value = table.get(name)
    return value if isinstance(value, str) else ""


def _texts(table: Object, name: str) -> tuple[str, ...]:
    value = table.get(name)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
