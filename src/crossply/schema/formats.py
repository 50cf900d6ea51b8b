"""The string formats that Kubernetes checks in a schema: `matches_format(format, text)`.

Names are compared without dashes, as Kubernetes does; a format that is not listed here is not checked.
Most formats are a pattern (`format_patterns`); the others need a small reader each, below.
"""

from __future__ import annotations

from collections.abc import Callable

from crossply.schema import format_patterns


def normalized(name: str) -> str:
    """Return the name under which a format is known: without dashes."""
    return name.replace("-", "")


def is_checked(name: str) -> bool:
    """Return whether a format is one that Kubernetes checks."""
    known = normalized(name)
    return known in _READERS or known in format_patterns.PATTERNS


def matches_format(name: str, text: str) -> bool:
    """Return whether a text has a format that `is_checked`."""
    known = normalized(name)
    reader = _READERS.get(known)
    return reader(text) if reader else format_patterns.matches(known, text)


def is_date(text: str) -> bool:
    """Return whether a text is a date such as 2024-02-29."""
    if not format_patterns.matches("@date", text):
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
    if not separator or not is_date(day) or not format_patterns.matches("@clock", clock):
        return False
    return clock[:2] <= "23" and clock[3:5] <= "59" and clock[6:8] <= "59"


def is_duration(text: str) -> bool:
    """Return whether a text is a Go duration (1h30m) or a Scala one (10 seconds)."""
    if format_patterns.matches("@goduration", text) or text in ("0", "+0", "-0"):
        return True
    return any(_is_unit(word) for word in format_patterns.duration_units(text))


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
            return size in (6, 8, 20) and all(
                len(part) == width and format_patterns.matches("@hex", part) for part in parts
            )
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
    digits = format_patterns.without_spaces_and_dashes(text)
    if not format_patterns.matches("@isbn10", digits):
        return False
    values = [10 if digit == "X" else int(digit) for digit in digits]
    return sum((index + 1) * value for index, value in enumerate(values)) % 11 == 0


def is_isbn13(text: str) -> bool:
    """Return whether a text is a thirteen-digit ISBN whose checksum is right."""
    digits = format_patterns.without_spaces_and_dashes(text)
    if not format_patterns.matches("@isbn13", digits):
        return False
    return sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(digits)) % 10 == 0


def is_isbn(text: str) -> bool:
    """Return whether a text is an ISBN of either length."""
    return is_isbn10(text) or is_isbn13(text)


def is_credit_card(text: str) -> bool:
    """Return whether the digits of a text are those of a credit card, by its Luhn checksum."""
    digits = "".join(letter for letter in text if letter in "0123456789")
    if not format_patterns.matches("@creditcard", digits):
        return False
    total = 0
    for index, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if index % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _is_ssn(text: str) -> bool:
    return len(text) == 11 and format_patterns.matches("@ssn", text)


def _is_long_name(text: str) -> bool:
    return len(text) <= 253 and format_patterns.matches("@longname", text)


def _is_short_name(text: str) -> bool:
    return len(text) <= 63 and format_patterns.matches("@shortname", text)


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
