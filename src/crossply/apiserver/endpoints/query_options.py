"""Options in the query of a URL, with numbers parsed as Go does."""

from __future__ import annotations

from collections.abc import Iterator

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.status_errors import Cause, StatusError, bad_options, bad_request
from crossply.values.gojson import dumps
from crossply.values.goquote import quote

_LARGEST_UNSIGNED = 2**64 - 1
_LARGEST_SIGNED = 2**63 - 1
_MOST_DIGITS = 20
_SHOWN = 64


class NotANumber(ValueError):
    """Go's error for a text that is not a number."""


class OutOfRange(NotANumber):
    """Go's error for a number of more than 64 bits."""


def parse_unsigned(text: str) -> int:
    """A number from 0 to 2**64 - 1; raises NotANumber."""
    return _parsed(text, text, "ParseUint", _LARGEST_UNSIGNED)


def parse_signed(text: str) -> int:
    """A signed 64-bit number; raises NotANumber."""
    negative = text.startswith("-")
    number = _parsed(text, text[1:] if text[:1] in ("-", "+") else text, "ParseInt", _LARGEST_SIGNED)
    return -number if negative else number


def signed_option(call: Call, name: str) -> int | None:
    """A number in the query, or None; raises BadRequest."""
    text = call.query.get(name, "")
    if not text:
        return None
    try:
        return parse_signed(text)
    except NotANumber as problem:
        raise bad_request(str(problem)) from None


def _parsed(text: str, digits: str, parser: str, largest: int) -> int:
    if not (digits.isascii() and digits.isdigit()):
        raise NotANumber(f'strconv.{parser}: parsing "{text[:_SHOWN]}": invalid syntax')
    digits = digits.lstrip("0") or "0"
    if len(digits) > _MOST_DIGITS or int(digits) > largest:
        raise OutOfRange(f'strconv.{parser}: parsing "{text[:_SHOWN]}": value out of range')
    return int(digits)


def listed_version(call: Call) -> int | None:
    """The resourceVersion of a list; None for any."""
    try:
        return _version(call)
    except NotANumber as problem:
        raise bad_request(f"invalid resource version: {problem}") from None


def read_version(call: Call) -> int | None:
    """The resourceVersion of a get or a watch; None for any. As in Kubernetes, an invalid one is a 500."""
    try:
        return _version(call)
    except OutOfRange as problem:
        raise bad_request(str(problem)) from None
    except NotANumber as problem:
        raise StatusError(500, "", str(problem)) from None


def _version(call: Call) -> int | None:
    text = call.query.get("resourceVersion", "")
    try:
        return parse_unsigned(text) or None if text else None
    except NotANumber as problem:
        raise type(problem)(f'resourceVersion: Invalid value: "{text[:_SHOWN]}": {problem}') from None


MAX_MANAGER = 128
"""How many bytes the name of a field manager may have."""

_VALIDATIONS = ("Ignore", "Strict", "Warn")
_KINDS = {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}


def check_write_options(call: Call, *causes: Cause) -> None:
    """Refuse invalid options of a create, update or patch; `causes` are those that the verb itself found."""
    wrong = [
        *causes,
        *_manager_causes(call),
        *dry_run_causes(dry_run_option(call)),
        *_validation_causes(call),
    ]
    if wrong:
        raise bad_options(_KINDS[call.info.verb], wrong)


def field_validation(call: Call) -> str:
    """The field validation: Ignore, Warn or Strict."""
    return call.query.get("fieldValidation") or "Warn"


def dry_run_option(call: Call) -> list[str]:
    return [call.query["dryRun"]] if "dryRun" in call.query else []


def dry_run_causes(values: list[str]) -> Iterator[Cause]:
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
        supported = ", ".join(f'"{value}"' for value in ("", *_VALIDATIONS))
        message = f"Unsupported value: {quote(value)}: supported values: {supported}"
        yield Cause("FieldValueNotSupported", message, "fieldValidation")
