"""What all kinds of the provider have in common."""

from __future__ import annotations

GROUP = "local.crossply.dev"
VERSION = "v1alpha1"
POLL_SECONDS = 5.0
"""How often a resource is compared with what is on the machine. That costs a few system calls."""
