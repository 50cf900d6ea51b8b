"""Ranges of sizes and costs, and how they add up: never beyond what 64 bits hold."""

from __future__ import annotations

import math
from typing import NamedTuple

MOST = 2**64 - 1


def product(one: int, other: int) -> int:
    """One times the other, or the most there is."""
    return min(one * other, MOST)


class Range(NamedTuple):
    """The least and the most that something can cost, or that can be in it."""

    low: int
    high: int

    def plus(self, other: Range) -> Range:
        """Both together."""
        return Range(min(self.low + other.low, MOST), min(self.high + other.high, MOST))

    def times(self, other: Range) -> Range:
        """One for each of the other."""
        return Range(product(self.low, other.low), product(self.high, other.high))

    def by(self, factor: float) -> Range:
        """Scaled, and rounded up."""
        return Range(_scaled(self.low, factor), _scaled(self.high, factor))

    def union(self, other: Range) -> Range:
        """Whichever of the two it is."""
        return Range(min(self.low, other.low), max(self.high, other.high))


def _scaled(value: int, factor: float) -> int:
    return min(math.ceil(float(value) * factor), MOST)


def fixed(value: int) -> Range:
    """Exactly so much."""
    return Range(value, value)


NOTHING, ONE, UNKNOWN = fixed(0), fixed(1), Range(0, MOST)
