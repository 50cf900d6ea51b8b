"""GET with watch: a stream of changes."""

from __future__ import annotations

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import negotiate_for
from crossply.apiserver.server_context import World
from crossply.apiserver.watching import Watch, read_plan


def watch(world: World, call: Call) -> Watch:
    """The watch that a request asks for; the server streams its lines."""
    return Watch(world, call, read_plan(call), negotiate_for(call))
