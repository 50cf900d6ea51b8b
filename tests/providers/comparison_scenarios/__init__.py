"""What is compared with crossplane-runtime: each function is a scenario, played in a namespace of its own.

`settled` ends a phase. What the provider does in a phase is recorded, and must be the same behind both.
"""

from tests.providers.comparison_scenarios import (
    call_failures,
    cluster_kinds,
    connection_details,
    crashes,
    deletion,
    life,
    management_policies,
    provider_configs,
    references,
    refused_writes,
)
from tests.providers.comparison_scenarios.registry import CRASHING, SCENARIOS

__all__ = [
    "CRASHING",
    "SCENARIOS",
    "call_failures",
    "cluster_kinds",
    "connection_details",
    "crashes",
    "deletion",
    "life",
    "management_policies",
    "provider_configs",
    "references",
    "refused_writes",
]
