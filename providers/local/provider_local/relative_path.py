"""Names of files: relative paths that lead nowhere else."""

from __future__ import annotations

_LONGEST = 512
_DEEPEST = 16


class PathRefused(Exception):
    """A name that could lead out of the directory of its namespace."""


def path_components(path: str) -> tuple[str, ...]:
    """The names in a relative path; raises PathRefused for every path that is not plainly below."""
    components = tuple(path.split("/"))
    if len(path) > _LONGEST or len(components) > _DEEPEST:
        raise PathRefused(
            f'path "{path[:40]}…" is too long: at most {_LONGEST} characters, {_DEEPEST} levels'
        )
    if any(component in ("", ".", "..") for component in components) or not path.isprintable():
        raise PathRefused(f'"{path}" is not a plain relative path such as site/index.html')
    return components


def single_name(name: str) -> str:
    """A name that is no path; raises PathRefused for a path."""
    components = path_components(name)
    if len(components) > 1:
        raise PathRefused(f'"{name}" is a path, not a name')
    return name
