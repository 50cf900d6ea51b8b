"""Path functions, with slashes on every machine; the os… functions are the same, as in Go on Linux."""

from __future__ import annotations


def base(path: str) -> str:
    """The last element of a path."""
    if not path:
        return "."
    return path.rstrip("/").rpartition("/")[2] or "/"


def directory(path: str) -> str:
    """All but the last element of a path."""
    head, slash, _ = path.rpartition("/")
    return clean(head + slash)


def clean(path: str) -> str:
    """The shortest path that means the same."""
    rooted = path.startswith("/")
    elements: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part != ".." or (not rooted and (not elements or elements[-1] == "..")):
            elements.append(part)
        elif elements:
            elements.pop()
    return ("/" if rooted else "") + "/".join(elements) or "."


def extension(path: str) -> str:
    """The last element's ending, from its last point on."""
    _, point, ending = path.rpartition("/")[2].rpartition(".")
    return point + ending if point else ""


def is_absolute(path: str) -> bool:
    """Whether a path begins at the root."""
    return path.startswith("/")
