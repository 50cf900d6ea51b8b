"""Which network the containers of Providers have, and the condition that says so."""

from __future__ import annotations

import os
from typing import NamedTuple

from crossply.compose.events import StatusCondition
from crossply.containers.pasta import find_pasta

_ISOLATED = StatusCondition("NetworkIsolated", "True", "NetworkOfItsOwn")
_NOT_ISOLATED = StatusCondition("NetworkIsolated", "False", "NetworkOfThisMachine")
_SHARED = (
    "the provider uses the network of this machine: providers that listen on the same port, such as 8080, "
    "cannot run at the same time"
)
_NO_PASTA = f"pasta is not installed, so {_SHARED}; install it, for example with: apt-get install passt"
_SHARED_BY_FLAG = f"as --provider-network says, {_SHARED}"


class ProviderNetwork(NamedTuple):
    """What the operator chose."""

    own: bool = True
    """Whether each container has a network of its own, where pasta is installed."""
    host_ports: tuple[int, ...] = ()
    """Ports of this machine's loopback that containers reach as their own localhost."""

    @property
    def is_own(self) -> bool:
        """Whether a container is started with a network of its own."""
        return self.own and bool(find_pasta(os.environ))

    def condition(self, problem: str) -> StatusCondition:
        """The condition of a revision; `problem` is why its container could not have a network of its own."""
        if self.is_own and not problem:
            return _ISOLATED
        reason = f"{problem}, so {_SHARED}" if problem else _NO_PASTA
        return _NOT_ISOLATED._replace(message=reason if self.own else _SHARED_BY_FLAG)
