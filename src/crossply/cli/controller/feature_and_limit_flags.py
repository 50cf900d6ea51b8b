"""Flags for concurrency, intervals and features of the controllers, with Crossplane's names."""

from __future__ import annotations

import math

from crossply.cli.controller.package_flags import PACKAGE_FLAGS, package_settings
from crossply.cli.framework.command import Flag, Invocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.control.options import Options


def _positive(text: str) -> float:
    """A decimal number above zero."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise ValueError(f'expected a number above zero but got "{text}"')
    return number


FUNCTION_TIMEOUT = Flag(
    "function-timeout",
    "The timeout of one function call. The composite resource then reports the failure.",
    kind="duration",
    default="2m",
    placeholder="2m",
    env="FUNCTION_TIMEOUT",
)
CONTROLLED_ROLLOUT = Flag(
    "enable-controlled-rollout",
    "Allow several active revisions of a Function, and let steps select one. Enabled by default.",
    default=True,
    env="ENABLE_CONTROLLED_ROLLOUT",
)
EXTRA_RESOURCES = Flag(
    "enable-composition-functions-extra-resources",
    "Give functions the resources that they require. Enabled by default. If disabled, a step "
    "whose function requires resources fails.",
    default=True,
    env="ENABLE_COMPOSITION_FUNCTIONS_EXTRA_RESOURCES",
)
OPERATIONS = Flag(
    "enable-operations",
    "Run Operations, CronOperations and WatchOperations: pipelines that run once, on a schedule, "
    "or when a resource changes.",
    env="ENABLE_OPERATIONS",
)
CRD_CONVERSION = Flag(
    "enable-custom-to-managed-resource-conversion",
    "Convert the CRDs of Providers to ManagedResourceDefinitions when a package is installed. Enabled by "
    "default.",
    default=True,
    env="ENABLE_CUSTOM_TO_MANAGED_RESOURCE_CONVERSION",
)
ACTIVATION = Flag(
    "activation",
    "The kinds of Providers that the ManagedResourceActivationPolicy default activates, as PLURAL.GROUP or "
    "a pattern. The policy is created when the control plane starts and there is none. Repeat the flag, or "
    "separate with commas. Set it to nothing for no policy. Default: all.",
    kind="strings",
    default="*",
    placeholder="*",
    env="ACTIVATION",
)
MANAGED_FLAGS = (CRD_CONVERSION, ACTIVATION)
WORK_FLAGS = (
    FUNCTION_TIMEOUT,
    CONTROLLED_ROLLOUT,
    EXTRA_RESOURCES,
    OPERATIONS,
    *MANAGED_FLAGS,
    Flag(
        "max-concurrent-reconciles",
        "The maximum number of concurrent reconciles of a kind.",
        kind="int",
        default=32,
        placeholder="32",
        aliases=("max-reconcile-rate",),
        env="MAX_CONCURRENT_RECONCILES",
    ),
    Flag(
        "max-composed-resources",
        "The maximum number of composed resources of one composite resource.",
        kind="int",
        default=10000,
        placeholder="10000",
        env="MAX_COMPOSED_RESOURCES",
    ),
    Flag(
        "sync-interval",
        "No effect: resources are reconciled when they change, and a watch that was cut starts again with a "
        "full list.",
        short="s",
        kind="duration",
        default="1h",
        placeholder="1h",
        env="SYNC_INTERVAL",
        no_effect="resources are reconciled when they change",
    ),
    Flag(
        "poll-interval",
        "No effect: composed resources are watched. A composite resource is polled only if it has the "
        "annotation crossplane.io/poll-interval.",
        kind="duration",
        default="1m",
        placeholder="1m",
        env="POLL_INTERVAL",
        no_effect="composed resources are watched; the annotation crossplane.io/poll-interval polls one XR",
    ),
    Flag(
        "min-poll-interval",
        "The minimum interval of the annotation crossplane.io/poll-interval.",
        kind="duration",
        default="1s",
        placeholder="1s",
        env="MIN_POLL_INTERVAL",
    ),
    Flag(
        "circuit-breaker-burst",
        "The number of consecutive reconciles of a composite resource without an edit before its "
        "circuit breaker opens.",
        kind="string",
        parse=_positive,
        default="100.0",
        placeholder="100.0",
        env="CIRCUIT_BREAKER_BURST",
    ),
    Flag(
        "circuit-breaker-refill-rate",
        "The number of such reconciles per second that the circuit breaker allows in the long run.",
        kind="string",
        parse=_positive,
        default="1.0",
        placeholder="1.0",
        env="CIRCUIT_BREAKER_REFILL_RATE",
    ),
    Flag(
        "circuit-breaker-cooldown",
        "How long an open circuit breaker slows a composite resource down. Edits are never delayed.",
        kind="duration",
        default="5m",
        placeholder="5m",
        env="CIRCUIT_BREAKER_COOLDOWN",
    ),
    Flag(
        "keeper",
        "The user to impersonate for writing CRDs, roles, revisions and Leases. The controllers' "
        "own user then needs no rights to write these. The installer creates the roles that "
        "always exist.",
        kind="string",
        env="KEEPER",
    ),
    *PACKAGE_FLAGS,
)


def activation_of(invocation: Invocation) -> tuple[str, ...]:
    """The patterns of the default policy; none if it is disabled."""
    return tuple(pattern for pattern in invocation["activation"] or () if pattern)


def options_of(invocation: Invocation) -> Options:
    """What the flags say."""
    from crossply.control.controller_context import CircuitLimits
    from crossply.control.options import Options

    return Options(
        concurrency=max(invocation["max-concurrent-reconciles"], 1),
        most_composed=max(invocation["max-composed-resources"], 1),
        shortest_poll=invocation["min-poll-interval"],
        function_seconds=invocation["function-timeout"],
        circuit=CircuitLimits(
            burst=invocation["circuit-breaker-burst"],
            refill=invocation["circuit-breaker-refill-rate"],
            cooldown=invocation["circuit-breaker-cooldown"],
        ),
        rollout=invocation["enable-controlled-rollout"],
        extra_resources=invocation["enable-composition-functions-extra-resources"],
        operations=invocation["enable-operations"],
        converts_crds=invocation["enable-custom-to-managed-resource-conversion"],
        activation=activation_of(invocation),
        keeper=invocation["keeper"] or "",
        packages=package_settings(invocation),
    )
