"""Joining texts with a separator, right and as function-patch-and-transform does it."""

from __future__ import annotations


def join(separator: str, texts: list[str]) -> str:
    """Put the separator between the texts."""
    return separator.join(texts)


def join_like_the_function(separator: str, texts: list[str]) -> str:
    """Put the separator after every text, then take one byte off the end: compositions count on it."""
    if not separator or not texts:
        return "".join(texts)
    joined = separator.join([*texts, ""]).encode("utf-8", "surrogateescape")
    return joined[:-1].decode("utf-8", "surrogateescape")
