"""Durations as short texts: 850 µs, 12 ms, 3.4 s."""

from __future__ import annotations


def duration_text(seconds: float) -> str:
    """A duration with two or three digits."""
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 0.01:
        return f"{seconds * 1e3:.1f} ms"
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:.0f} s"
