"""Readiness checks and connection details of desired resources, as those of templates are understood."""

from __future__ import annotations

from collections.abc import Mapping

from crossply.compose.messages import Resource
from crossply.functions.builtin.patch_and_transform.failure import Failure, Fatal
from crossply.functions.builtin.patch_and_transform.native import NATIVE
from crossply.functions.builtin.patch_and_transform.plan import Template, make_plan
from crossply.functions.failures import FunctionReplyDamaged
from crossply.functions.function_io.carried import RULES
from crossply.values import Object
from crossply.values.goquote import quote

_DIALECT = NATIVE._replace(
    undecodable="cannot read FunctionIO: ", unacceptable="invalid FunctionIO: desired."
)


class Rules:
    """The rules of one desired state."""

    __slots__ = ("_templates",)

    def __init__(self, written: Mapping[str, Object]) -> None:
        """By the name of each resource what it says; raises where that cannot be understood."""
        entries = [
            {"name": name, "base": {}, **{key: said[key] for key in RULES if said.get(key)}}
            for name, said in written.items()
        ]
        self._templates = {template.name: template for template in _templates(entries)}

    def details(self, observed: Mapping[str, Resource]) -> dict[str, bytes]:
        """The connection details that observed resources give."""
        found: dict[str, bytes] = {}
        for name, template in self._templates.items():
            resource = observed.get(name)
            if resource is not None and template.extract is not None:
                found.update(template.extract(resource.object, resource.connection_details))
        return found

    def is_ready(self, name: str, observed: Resource | None) -> bool:
        """Whether a resource passes its checks."""
        if observed is None:
            return False
        try:
            return self._templates[name].is_ready(observed.object)
        except (Failure, Fatal) as reason:
            raise FunctionReplyDamaged(
                f"cannot check readiness of composed resource {quote(name)}: {reason}", hint=_HINT
            ) from None


def _templates(entries: list[Object]) -> tuple[Template, ...]:
    if not entries:
        return ()
    try:
        return make_plan({"resources": entries}, _DIALECT).templates
    except Fatal as reason:
        raise FunctionReplyDamaged(str(reason), hint=_HINT) from None


_HINT = "connectionDetails and readinessChecks of a FunctionIO have the fields of those of a Composition"
