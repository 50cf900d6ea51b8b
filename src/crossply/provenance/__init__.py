"""Where a field comes from: which step of a pipeline set it, how, and from which fields of which objects."""

from __future__ import annotations
