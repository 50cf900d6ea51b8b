"""The contract between an InfrastructureDefinition and its Compositions about connection details.

A definition names the details of its kind's secret. A Composition that serves it must provide each of them
from exactly one of its resources; which one is then never a matter of chance.
"""

from __future__ import annotations

from crossply.compose.errors import ContractBroken
from crossply.kinds.application_and_infrastructure_definitions import INFRASTRUCTURE
from crossply.kinds.composition import Composition
from crossply.kinds.composition_native_step import NATIVE_FUNCTION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.kinds.definition import Definition


def check_contract(definition: Definition, composition: Composition) -> None:
    """Refuse a Composition that provides a connection detail not at all, or more than once."""
    keys = definition.connection_secret_keys
    if definition.definition_kind != INFRASTRUCTURE or not keys or not _is_readable(composition):
        return
    providers = _providers(composition)
    problems = [problem for key in keys for problem in _problem(key, providers.get(key, []))]
    if problems:
        raise ContractBroken(
            f'Composition "{composition.name}" does not provide each connection detail of '
            f'{INFRASTRUCTURE} "{definition.name}" exactly once: {"; ".join(problems)}'
        )


def _is_readable(composition: Composition) -> bool:
    """What functions provide is only known when they run."""
    return len(composition.steps) == 1 and composition.steps[0].function == NATIVE_FUNCTION


def _providers(composition: Composition) -> dict[str, list[str]]:
    """The names of the resources that provide each detail, once for every time they do."""
    providers: dict[str, list[str]] = {}
    templates = (composition.steps[0].input or {}).get("resources") or ()
    for index, template in enumerate(templates):
        details = template.get("connectionDetails")
        for detail in details if isinstance(details, list) else ():
            if isinstance(detail, dict):
                name = detail.get("name") or detail.get("fromConnectionSecretKey")
                providers.setdefault(str(name), []).append(template.get("name") or f"resource-{index}")
    return providers


def _problem(key: str, providers: list[str]) -> list[str]:
    if len(providers) == 1:
        return []
    if not providers:
        return [f'no resource provides "{key}"']
    return [f'"{key}" is provided {len(providers)} times, by {", ".join(providers)}']
