"""Transforms: what happens to a value on its way from one object to another.

A list of transforms becomes one closure, see `chain`. Each kind has a file: `arithmetic` (math), `lookup`
(map and match), `strings` with `conversions` of text, and `convert` between types.
"""

from __future__ import annotations
