"""Plain-data tools: field paths, Go-style formatting, quantities, merge, digests, YAML.

Everything here works on JSON values and knows nothing of Kubernetes kinds.
"""

from typing import Any

Object = dict[str, Any]
"""A Kubernetes object, or any JSON object: a plain dict that is treated as read-only."""

__all__ = ["Object"]
