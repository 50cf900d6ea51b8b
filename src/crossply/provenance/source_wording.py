"""Words for sources, the same in the terminal and in the dashboard."""

from __future__ import annotations

from crossply.functions.field_provenance import COMPOSITE, CONDITION, CONTEXT, KEYS, REQUEST, VALUE
from crossply.provenance.field_managers import FieldManager
from crossply.provenance.model import FieldSource, SourceField

_COMPOSED = "apiextensions.crossplane.io/"
"""How the names of the control plane's field managers begin."""


def source_verb(field: SourceField) -> str:
    """How a source is used: `from` its value, `if` it decides, `for each of` its fields or items."""
    return "if" if field.use == CONDITION else "for each of" if field.use == KEYS else "from"


def source_name(field: SourceField) -> str:
    """What a source is called: fields of the XR by their path alone, others with their object."""
    if field.object == REQUEST:
        return field.path or "anything that the function was sent"
    if field.object == COMPOSITE:
        return field.path or "the whole XR"
    return str(field)


def sources_text(source: FieldSource) -> str:
    """All sources: `spec.size, spec.name, if spec.enabled`."""
    places = [field for field in source.sources if field.object == CONTEXT]
    fields = [field for field in source.sources if field.object != CONTEXT]
    # A place in the context is long, and says less than what put the value there.
    is_copied = any(field.use == VALUE for field in fields)
    return ", ".join(
        source_name(field)
        if field.use not in (CONDITION, KEYS)
        else f"{source_verb(field)} {source_name(field)}"
        for field in ((*fields, *places) if is_copied else source.sources)
    )


def how_text(source: FieldSource) -> str:
    """How a step set a field; a function that cannot be traced is named."""
    return source.function if source.how == "function" else source.how


def one_line(source: FieldSource) -> str:
    """How a field was set, and from what: `patch 1 (FromCompositeFieldPath), from spec.size`."""
    sources = sources_text(source)
    if not sources:
        return how_text(source)
    joint = ", " if sources.startswith(("if ", "for each of ")) else ", from "
    return f"{how_text(source)}{joint}{sources}"


def manager_name(manager: FieldManager) -> str:
    """The name of a field manager, without the digest behind that of the control plane."""
    return "the control plane" if manager.manager.startswith(_COMPOSED) else manager.manager
