"""What all kinds of the provider have in common."""

from __future__ import annotations

import functools

from crossply.provider import managed

local_kind = functools.partial(
    managed,
    group="local.crossply.dev",
    version="v1alpha1",
    poll_interval=5.0,  # an observation costs a few system calls
    creation_grace_period=0.0,  # what is created is there at once
)
