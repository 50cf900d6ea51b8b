"""Alpha container functions: the entries of a Composition's `spec.functions`.

Each is an image that reads a FunctionIO on stdin and writes one on stdout. This module holds the
parsed settings with defaults; `functions` runs the image.
"""

from collections.abc import Mapping
from typing import NamedTuple

from crossply.kinds.fields import Fields
from crossply.values import Object
from crossply.values.durations import parse_duration

DEFAULT_ENDPOINT = "unix-abstract:crossplane/fn/default.sock"
"""The default endpoint of a shared runner."""
ABSTRACT_PREFIXES = ("unix:///@", "unix://@", "unix:@")
"""How the addresses of sockets that are no files begin where gRPC does not spell them."""
DEFAULT_TIMEOUT = "10s"
DEFAULT_CPU = "100m"
DEFAULT_MEMORY = "128Mi"

_OVERRIDES = ("connectionDetails", "readinessChecks")
PULL_POLICIES = ("IfNotPresent", "Always", "Never")
# `Accessible` is the first spelling of what became `Runner`.
NETWORK_POLICIES = {"Isolated": "Isolated", "Runner": "Runner", "Accessible": "Runner"}


class PullSecret(NamedTuple):
    """Where the credentials for a private registry are."""

    name: str
    namespace: str


class ContainerFunction(NamedTuple):
    """A function that is run as a container, with every default applied."""

    image: str
    pull_policy: str
    pull_secrets: tuple[PullSecret, ...]
    timeout: int
    """Nanoseconds the container may run."""
    network_policy: str
    """`Isolated`, or `Runner` to share the runner's network."""
    cpu_limit: str
    memory_limit: str
    endpoint: str
    """Where the process that runs containers listens."""
    config: Object | None
    """Given to the function as the `config` of its FunctionIO."""
    templates: Mapping[str, Object] = {}
    """Readiness checks and connection details of the Composition's templates, by the template's name."""


def parse_container_function(entry: Fields, templates: Mapping[str, Object]) -> ContainerFunction:
    """Read one entry of `spec.functions`."""
    if entry.text("type") != "Container":
        raise entry.wrong("must be Container", "type")
    container = entry.object("container")
    limits = container.object("resources").object("limits")
    return ContainerFunction(
        image=_required(container, "image"),
        pull_policy=_pull_policy(container),
        pull_secrets=tuple(
            PullSecret(s.text("name"), s.text("namespace")) for s in container.objects("imagePullSecrets")
        ),
        timeout=_timeout(container),
        network_policy=_network_policy(container),
        cpu_limit=_limit(limits, "cpu") or DEFAULT_CPU,
        memory_limit=_limit(limits, "memory") or DEFAULT_MEMORY,
        endpoint=_endpoint(container.object("runner").text("endpoint")),
        config=entry.optional_dict("config"),
        templates=templates,
    )


def template_overrides(templates: list[Object]) -> dict[str, Object]:
    """Return the readiness checks and connection details of templates, by name or else by index."""
    overrides = {
        str(template.get("name") or f"resource-{index}"): {
            key: template[key] for key in _OVERRIDES if template.get(key)
        }
        for index, template in enumerate(templates)
    }
    return {name: fields for name, fields in overrides.items() if fields}


def _endpoint(written: str) -> str:
    """An address as gRPC spells it; a socket of no file was first written `unix:///@name`."""
    for prefix in ABSTRACT_PREFIXES:
        if written.startswith(prefix):
            return f"unix-abstract:{written[len(prefix) :]}"
    return written or DEFAULT_ENDPOINT


def _required(container: Fields, key: str) -> str:
    value = container.text(key)
    if not value:
        raise container.wrong("is required", key)
    return value


def _pull_policy(container: Fields) -> str:
    policy = container.text("imagePullPolicy") or "IfNotPresent"
    if policy not in PULL_POLICIES:
        raise container.wrong("must be IfNotPresent, Always or Never", "imagePullPolicy")
    return policy


def _timeout(container: Fields) -> int:
    try:
        return parse_duration(container.text("timeout") or DEFAULT_TIMEOUT)
    except ValueError as problem:
        raise container.wrong(str(problem), "timeout") from None


def _network_policy(container: Fields) -> str:
    written = container.raw("network")
    # The policy was first a bare string, then a field of an object.
    policy = written if isinstance(written, str) else container.object("network").text("policy") or "Isolated"
    if policy not in NETWORK_POLICIES:
        raise container.wrong("must be Isolated, Runner or Accessible", "network")
    return NETWORK_POLICIES[policy]


def _limit(limits: Fields, key: str) -> str:
    """A quantity, which may also be written as a bare number."""
    value = limits.raw(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value}"
    return limits.text(key)
