"""Results: what the function reports about the composite resource."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.compose.function_messages import (
    SEVERITY_FATAL,
    SEVERITY_NORMAL,
    SEVERITY_UNSPECIFIED,
    SEVERITY_WARNING,
    TARGET_COMPOSITE_AND_CLAIM,
)
from crossply.functions.builtin.pythonic.conditions import UNSET, target_of
from crossply.functions.builtin.pythonic.message import Message


class Result:
    """One result. One that does not exist is false, and ignores what is written to it."""

    def __init__(self, result: Message | None = None) -> None:
        self._result = result

    def __bool__(self) -> bool:
        return self._result is not None

    def _get(self, name: str) -> Any:
        return None if self._result is None else self._result[name]

    def _set(self, name: str, value: Any) -> None:
        if self._result is not None:
            self._result[name] = value

    @property
    def info(self) -> bool:
        return bool(self) and self._get("severity") == SEVERITY_NORMAL

    @info.setter
    def info(self, info: Any) -> None:
        self._set("severity", SEVERITY_NORMAL if info else SEVERITY_UNSPECIFIED)

    @property
    def warning(self) -> bool:
        return bool(self) and self._get("severity") == SEVERITY_WARNING

    @warning.setter
    def warning(self, warning: Any) -> None:
        self._set("severity", SEVERITY_WARNING if warning else SEVERITY_NORMAL)

    @property
    def fatal(self) -> bool:
        return bool(self) and self._get("severity") == SEVERITY_FATAL

    @fatal.setter
    def fatal(self, fatal: Any) -> None:
        self._set("severity", SEVERITY_FATAL if fatal else SEVERITY_NORMAL)

    @property
    def reason(self) -> Any:
        return self._get("reason")

    @reason.setter
    def reason(self, reason: Any) -> None:
        self._set("reason", reason)

    @property
    def message(self) -> Any:
        return self._get("message")

    @message.setter
    def message(self, message: Any) -> None:
        self._set("message", message)

    @property
    def claim(self) -> bool:
        return bool(self) and self._get("target") == TARGET_COMPOSITE_AND_CLAIM

    @claim.setter
    def claim(self, claim: Any) -> None:
        self._set("target", target_of(claim))


class Results:
    """The results of the response."""

    def __init__(self, response: Message) -> None:
        self._results = response.results

    def info(self, reason: Any = UNSET, message: Any = UNSET, claim: Any = UNSET) -> Result:
        return self._add("info", reason, message, claim)

    def warning(self, reason: Any = UNSET, message: Any = UNSET, claim: Any = UNSET) -> Result:
        return self._add("warning", reason, message, claim)

    def fatal(self, reason: Any = UNSET, message: Any = UNSET, claim: Any = UNSET) -> Result:
        return self._add("fatal", reason, message, claim)

    def _add(self, severity: str, reason: Any, message: Any, claim: Any) -> Result:
        result = Result(self._results.append())
        setattr(result, severity, True)
        for name, value in (("reason", reason), ("message", message), ("claim", claim)):
            if value is not UNSET:
                setattr(result, name, value)
        return result

    def __bool__(self) -> bool:
        return len(self) > 0

    def __len__(self) -> int:
        return len(self._results)

    def __getitem__(self, index: int) -> Result:
        return Result() if index >= len(self) else Result(self._results[index])

    def __iter__(self) -> Iterator[Result]:
        for index in range(len(self)):
            yield self[index]
