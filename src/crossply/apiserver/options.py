"""The options of a write in the query of its URL: everything that is wrong with them is told at once."""

from __future__ import annotations

from collections.abc import Iterator

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.status_errors import Cause, bad_options
from crossply.values.gojson import dumps
from crossply.values.goquote import quote

MAX_MANAGER = 128
"""How many bytes the name of a field manager may have."""

_VALIDATIONS = ("Ignore", "Strict", "Warn")
_KINDS = {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}


def check_write_options(call: Call, *causes: Cause) -> None:
    """Refuse wrong options of a create, update or patch; `causes` are those that the verb itself found."""
    wrong = [
        *causes,
        *_manager_causes(call),
        *dry_run_causes(dry_run_option(call)),
        *_validation_causes(call),
    ]
    if wrong:
        raise bad_options(_KINDS[call.info.verb], wrong)


def field_validation(call: Call) -> str:
    """What to do about unknown and repeated fields: Ignore, Warn or Strict."""
    return call.query.get("fieldValidation") or "Warn"


def dry_run_option(call: Call) -> list[str]:
    """The values of the option dryRun."""
    return [call.query["dryRun"]] if "dryRun" in call.query else []


def dry_run_causes(values: list[str]) -> Iterator[Cause]:
    """What is wrong with the values of the option dryRun."""
    if any(value != "All" for value in values):
        message = f'Unsupported value: {dumps(values)}: supported values: "All"'
        yield Cause("FieldValueNotSupported", message, "dryRun")


def _manager_causes(call: Call) -> Iterator[Cause]:
    manager = call.query.get("fieldManager", "")
    if len(manager.encode("utf-8", "replace")) > MAX_MANAGER:
        yield Cause(
            "FieldValueTooLong", f"Too long: may not be more than {MAX_MANAGER} bytes", "fieldManager"
        )
    for index, char in enumerate(manager):
        if not char.isprintable():
            why = f"invalid character U+{ord(char):04X} (at position {index})"
            yield Cause("FieldValueInvalid", f"Invalid value: {quote(manager)}: {why}", "fieldManager")
            return


def _validation_causes(call: Call) -> Iterator[Cause]:
    value = call.query.get("fieldValidation", "")
    if value and value not in _VALIDATIONS:
        supported = ", ".join(f'"{each}"' for each in ("", *_VALIDATIONS))
        message = f"Unsupported value: {quote(value)}: supported values: {supported}"
        yield Cause("FieldValueNotSupported", message, "fieldValidation")
