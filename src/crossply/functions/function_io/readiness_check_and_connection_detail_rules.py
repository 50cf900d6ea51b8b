"""Readiness checks and connection details of desired resources, as in templates of Compositions."""

from __future__ import annotations

from collections.abc import Mapping

from crossply.compose.function_messages import Resource
from crossply.functions.builtin.patch_and_transform.compiled_input import CompiledTemplate, compile_input
from crossply.functions.builtin.patch_and_transform.errors import Failure, Fatal
from crossply.functions.builtin.patch_and_transform.resources_mode import NATIVE
from crossply.functions.failures import FunctionReplyDamaged
from crossply.functions.function_io.pipeline_context_state import RULES
from crossply.values import Object
from crossply.values.goquote import quote

_DIALECT = NATIVE._replace(
    decode_error_prefix="cannot read FunctionIO: ", validation_error_prefix="invalid FunctionIO: desired."
)


class Rules:
    """The rules of one desired state."""

    __slots__ = ("_templates",)

    def __init__(self, written: Mapping[str, Object]) -> None:
        """Compile the rules of each resource; raises FunctionReplyDamaged."""
        entries = [
            {"name": name, "base": {}, **{key: rules[key] for key in RULES if rules.get(key)}}
            for name, rules in written.items()
        ]
        self._templates = {template.name: template for template in _templates(entries)}

    def details(self, observed: Mapping[str, Resource]) -> dict[str, bytes]:
        details: dict[str, bytes] = {}
        for name, template in self._templates.items():
            resource = observed.get(name)
            if resource is not None and template.extract_details is not None:
                details.update(template.extract_details(resource.object, resource.connection_details))
        return details

    def is_ready(self, name: str, observed: Resource | None) -> bool:
        """Whether an observed resource passes its checks."""
        if observed is None:
            return False
        try:
            return self._templates[name].is_ready(observed.object)
        except (Failure, Fatal) as error:
            raise FunctionReplyDamaged(
                f"cannot check readiness of composed resource {quote(name)}: {error}", hint=_HINT
            ) from None


def _templates(entries: list[Object]) -> tuple[CompiledTemplate, ...]:
    if not entries:
        return ()
    try:
        return compile_input({"resources": entries}, _DIALECT).templates
    except Fatal as error:
        raise FunctionReplyDamaged(str(error), hint=_HINT) from None


_HINT = "connectionDetails and readinessChecks of a FunctionIO have the fields of those of a Composition"
