"""The patterns behind `formats`, compiled on first use.

Names that begin with @ are parts that `formats` uses; the others are formats by themselves. Python's own
expressions are enough here: the patterns are ours, none of them backtracks without bound.
"""

from __future__ import annotations

import functools
import re

_HEX_UUID = "[0-9a-f]{8}-?[0-9a-f]{4}-?%s-?%s-?[0-9a-f]{12}"
_ANY_QUARTET = "[0-9a-f]{4}"
_VARIANT = "[89ab][0-9a-f]{3}"
_COLOUR = "(?:0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])"
_SPACE = r"[\t\n\f\r ]*"
_BASE64 = "[A-Za-z0-9+/]"
_NAME = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"

PATTERNS = {
    "bsonobjectid": "[0-9a-fA-F]{24}",
    "byte": f"(?:{_BASE64}{{4}})*(?:{_BASE64}{{2}}==|{_BASE64}{{3}}=|{_BASE64}{{4}})",
    "hexcolor": "#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})",
    "rgbcolor": rf"rgb\({_SPACE}{_COLOUR}{_SPACE},{_SPACE}{_COLOUR}{_SPACE},{_SPACE}{_COLOUR}{_SPACE}\)",
    "uuid": "(?i:" + _HEX_UUID % (_ANY_QUARTET, _ANY_QUARTET) + ")",
    "uuid3": "(?i:" + _HEX_UUID % ("3[0-9a-f]{3}", _ANY_QUARTET) + ")",
    "uuid4": "(?i:" + _HEX_UUID % ("4[0-9a-f]{3}", _VARIANT) + ")",
    "uuid5": "(?i:" + _HEX_UUID % ("5[0-9a-f]{3}", _VARIANT) + ")",
    "@clock": r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})",
    "@creditcard": "4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    "|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11}",
    "@date": "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "@goduration": r"[-+]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+",
    "@hex": "[0-9a-fA-F]+",
    "@isbn10": "[0-9]{9}X|[0-9]{10}",
    "@isbn13": "[0-9]{13}",
    "@longname": rf"{_NAME}(?:\.{_NAME})*",
    "@shortname": _NAME,
    "@ssn": "[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}",
}


def matches(name: str, text: str) -> bool:
    """Return whether a whole text matches a named pattern."""
    return _compiled(name).fullmatch(text) is not None


def duration_units(text: str) -> list[str]:
    """Return the words that follow a number in a text such as `10 seconds`."""
    return re.findall(r"[0-9]+[\t\n\f\r ]*([A-Za-zµ]+)", text)


def without_spaces_and_dashes(text: str) -> str:
    """Return a text as the ISBN checks read it."""
    return re.sub(r"[\t\n\f\r -]+", "", text)


@functools.cache
def _compiled(name: str) -> re.Pattern[str]:
    return re.compile(PATTERNS[name], re.DOTALL)
