"""What the fields of `Parameters`, `Observed` and a provider's configuration are annotated with.

Type checkers see `Ref[Role]` and `SecretValue` as strings, and `Immutable[str]` as `str`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Generic, NamedTuple, TypeVar

Kind = TypeVar("Kind")
Value = TypeVar("Value")


class Ref(str, Generic[Kind]):
    """The external name of a resource of another kind, which users may also name or select.

    `owner: Ref[Role]` becomes three fields: `owner`, `ownerRef` and `ownerSelector`. The value is a plain
    string when methods get it.
    """

    __slots__ = ()


class SecretValue(str):
    """A value from a Secret. `password: SecretValue` becomes the field `passwordSecretRef`.

    It is the value itself, but its repr hides it.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "SecretValue(...)"


class ImmutableMark(NamedTuple):
    """The value cannot be changed once it is set."""


Immutable = Annotated[Value, ImmutableMark()]


class Doc(NamedTuple):
    """The description of a field, which `kubectl explain` shows."""

    text: str


class JsonName(NamedTuple):
    """The name of a field in YAML, where it is not the camelCase form of the Python name."""

    name: str


@dataclass(frozen=True, slots=True)
class Minimum:
    """The smallest number allowed."""

    KEYWORD: ClassVar = "minimum"
    value: float


@dataclass(frozen=True, slots=True)
class Maximum:
    """The largest number allowed."""

    KEYWORD: ClassVar = "maximum"
    value: float


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression (RE2) that a text must match. It is not anchored."""

    KEYWORD: ClassVar = "pattern"
    value: str


@dataclass(frozen=True, slots=True)
class MinLength:
    """The least number of characters of a text."""

    KEYWORD: ClassVar = "minLength"
    value: int


@dataclass(frozen=True, slots=True)
class MaxLength:
    """The largest number of characters of a text."""

    KEYWORD: ClassVar = "maxLength"
    value: int


@dataclass(frozen=True, slots=True)
class MinItems:
    """The least number of items of a list."""

    KEYWORD: ClassVar = "minItems"
    value: int


@dataclass(frozen=True, slots=True)
class MaxItems:
    """The largest number of items of a list."""

    KEYWORD: ClassVar = "maxItems"
    value: int


Constraint = Minimum | Maximum | Pattern | MinLength | MaxLength | MinItems | MaxItems

CONSTRAINTS_OF: Final[dict[str, tuple[type[Any], ...]]] = {
    "string": (Pattern, MinLength, MaxLength),
    "integer": (Minimum, Maximum),
    "number": (Minimum, Maximum),
    "boolean": (),
    "array": (MinItems, MaxItems),
}
