"""The string formats that Kubernetes checks in a schema: `matches_format(format, text)`.

Names are compared without dashes, as Kubernetes does; a format that is not listed here is not checked.
Most formats are a pattern, compiled on first use; the others need a small reader each. Patterns whose names
begin with @ are parts that readers use; the others are formats by themselves. Python's own expressions are
enough here: the patterns are ours, none of them backtracks without bound.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

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


def normalized(name: str) -> str:
    """Return the name under which a format is known: without dashes."""
    return name.replace("-", "")


def is_checked(name: str) -> bool:
    """Return whether a format is one that Kubernetes checks."""
    known = normalized(name)
    return known in _READERS or known in PATTERNS


def matches_format(name: str, text: str) -> bool:
    """Return whether a text has a format that `is_checked`."""
    known = normalized(name)
    reader = _READERS.get(known)
    return reader(text) if reader else _matches(known, text)


def is_date(text: str) -> bool:
    """Return whether a text is a date such as 2024-02-29."""
    if not _matches("@date", text):
        return False
    from datetime import date

    try:
        # Go knows the year 0 and Python does not; both are leap years by the same rule as 2000.
        date(int(text[:4]) or 2000, int(text[5:7]), int(text[8:]))
    except ValueError:
        return False
    return True


def is_date_time(text: str) -> bool:
    """Return whether a text is an RFC 3339 date and time."""
    day, separator, clock = text.lower().partition("t")
    clock = clock.split("t")[0]
    if not separator or not is_date(day) or not _matches("@clock", clock):
        return False
    return clock[:2] <= "23" and clock[3:5] <= "59" and clock[6:8] <= "59"


def is_duration(text: str) -> bool:
    """Return whether a text is a Go duration (1h30m) or a Scala one (10 seconds)."""
    if _matches("@goduration", text) or text in ("0", "+0", "-0"):
        return True
    return any(_is_unit(word) for word in _duration_units(text))


_UNITS = ("ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk")
_UNIT_BEGINNINGS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")


def _is_unit(word: str) -> bool:
    lowered = word.lower()
    return lowered in _UNITS or lowered.startswith(_UNIT_BEGINNINGS)


def is_ipv4(text: str) -> bool:
    """Return whether a text is an IP address written with dots; leading zeros are tolerated."""
    return "." in text and _is_ip(text)


def is_ipv6(text: str) -> bool:
    """Return whether a text is an IP address written with colons."""
    return ":" in text and _is_ip(text)


def _is_ip(text: str) -> bool:
    if ":" not in text:
        return _is_dotted(text)
    import socket

    try:
        socket.inet_pton(socket.AF_INET6, text)
    except (OSError, ValueError):
        return False
    return True


def _is_dotted(text: str) -> bool:
    parts = text.split(".")
    return len(parts) == 4 and all(_is_octet(part) for part in parts)


def _is_octet(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text.lstrip("0") or "0") <= 3 and int(text) <= 255


def is_cidr(text: str) -> bool:
    """Return whether a text is an address range such as 10.0.0.0/8."""
    address, separator, length = text.partition("/")
    if (
        not separator
        or not (length.isascii() and length.isdigit() and len(length) <= 10)
        or not _is_ip(address)
    ):
        return False
    return int(length) <= (128 if ":" in address else 32)


def is_hostname(text: str) -> bool:
    """Return whether a text is a host name; letters and symbols of any script are allowed."""
    labels = text.split(".")
    if len(text.encode()) > 255 or any(len(label.encode()) > 63 for label in labels):
        return False
    if len(labels) == 1:
        return _is_single_label(text)
    last = labels.pop()
    return len(last) >= 2 and all(_is_letter(char) for char in last) and all(map(_is_label, labels))


def _is_single_label(text: str) -> bool:
    # A name without dots may have one dash, and only as its second character.
    rest = text[1:].removeprefix("-")
    return bool(text) and all(map(_is_host_character, text[0] + rest))


def _is_label(text: str) -> bool:
    return (
        bool(text) and "-" not in (text[0], text[-1]) and all(map(_is_host_character, text.replace("-", "")))
    )


def _is_host_character(char: str) -> bool:
    return (char.isascii() and char.isdigit()) or _is_letter(char) or _category(char).startswith("S")


def _is_letter(char: str) -> bool:
    return (char.isascii() and char.isalpha()) or _category(char).startswith("L")


def _category(char: str) -> str:
    import unicodedata

    return unicodedata.category(char)


def is_mac(text: str) -> bool:
    """Return whether a text is a MAC-48, EUI-48, EUI-64 or InfiniBand hardware address."""
    for separator, width in ((":", 2), ("-", 2), (".", 4)):
        parts = text.split(separator)
        if len(parts) > 1:
            size = len(parts) * width // 2
            return size in (6, 8, 20) and all(len(part) == width and _matches("@hex", part) for part in parts)
    return False


def is_email(text: str) -> bool:
    """Return whether a text is a mail address, with or without a display name."""
    from crossply.schema.uri_and_email_formats import is_address

    return is_address(text)


def is_uri(text: str) -> bool:
    """Return whether a text is an absolute URI or an absolute path."""
    from crossply.schema.uri_and_email_formats import is_request_uri

    return is_request_uri(text)


def is_isbn10(text: str) -> bool:
    """Return whether a text is a ten-digit ISBN whose checksum is right."""
    digits = _without_spaces_and_dashes(text)
    if not _matches("@isbn10", digits):
        return False
    values = [10 if digit == "X" else int(digit) for digit in digits]
    return sum((index + 1) * value for index, value in enumerate(values)) % 11 == 0


def is_isbn13(text: str) -> bool:
    """Return whether a text is a thirteen-digit ISBN whose checksum is right."""
    digits = _without_spaces_and_dashes(text)
    if not _matches("@isbn13", digits):
        return False
    return sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(digits)) % 10 == 0


def is_isbn(text: str) -> bool:
    """Return whether a text is an ISBN of either length."""
    return is_isbn10(text) or is_isbn13(text)


def is_credit_card(text: str) -> bool:
    """Return whether the digits of a text are those of a credit card, by its Luhn checksum."""
    digits = "".join(letter for letter in text if letter in "0123456789")
    if not _matches("@creditcard", digits):
        return False
    total = 0
    for index, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if index % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _is_ssn(text: str) -> bool:
    return len(text) == 11 and _matches("@ssn", text)


def _is_long_name(text: str) -> bool:
    return len(text) <= 253 and _matches("@longname", text)


def _is_short_name(text: str) -> bool:
    return len(text) <= 63 and _matches("@shortname", text)


_READERS: dict[str, Callable[[str], bool]] = {
    "cidr": is_cidr,
    "creditcard": is_credit_card,
    "date": is_date,
    "datetime": is_date_time,
    "duration": is_duration,
    "email": is_email,
    "hostname": is_hostname,
    "ipv4": is_ipv4,
    "ipv6": is_ipv6,
    "isbn": is_isbn,
    "isbn10": is_isbn10,
    "isbn13": is_isbn13,
    "k8slongname": _is_long_name,
    "k8sshortname": _is_short_name,
    "mac": is_mac,
    "password": lambda _text: True,
    "ssn": _is_ssn,
    "uri": is_uri,
}


def _matches(name: str, text: str) -> bool:
    """Return whether a whole text matches a named pattern."""
    return _compiled(name).fullmatch(text) is not None


def _duration_units(text: str) -> list[str]:
    """Return the words that follow a number in a text such as `10 seconds`."""
    return re.findall(r"[0-9]+[\t\n\f\r ]*([A-Za-zµ]+)", text)


def _without_spaces_and_dashes(text: str) -> str:
    """Return a text as the ISBN checks read it."""
    return re.sub(r"[\t\n\f\r -]+", "", text)


@functools.cache
def _compiled(name: str) -> re.Pattern[str]:
    return re.compile(PATTERNS[name], re.DOTALL)
