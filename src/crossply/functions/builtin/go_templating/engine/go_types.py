"""Python classes for Go types.

Templates distinguish `int` from `int64` and `[]string` from `[]interface {}`: functions accept only one of
them, and `kindOf` and `%T` show it. Where Python has one type for several of Go's, the others are subclasses
with the Go name in `go_type`:

    nil None · bool · string str · int int · int64 Int64 · float64 float · complex128 complex · []byte bytes
    []interface {} list · map[string]interface {} dict · anything else: a class of this module

Maps are printed and ranged over in the order of their keys, whatever order the dict has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from crossply.functions.builtin.go_templating.engine.signatures import Function
    from crossply.values.gojson import Members


class Int64(int):
    """Go's int64, where `int` is another type."""

    __slots__ = ()
    go_type: ClassVar[str] = "int64"
    go_kind: ClassVar[str] = "int64"


class Int32(int):
    """Go's int32, which is also its rune."""

    __slots__ = ()
    go_type: ClassVar[str] = "int32"
    go_kind: ClassVar[str] = "int32"


class Uint8(int):
    """Go's uint8, which is also its byte."""

    __slots__ = ()
    go_type: ClassVar[str] = "uint8"
    go_kind: ClassVar[str] = "uint8"


class Uint32(int):
    """Go's uint32."""

    __slots__ = ()
    go_type: ClassVar[str] = "uint32"
    go_kind: ClassVar[str] = "uint32"


class Uint64(int):
    """Go's uint64."""

    __slots__ = ()
    go_type: ClassVar[str] = "uint64"
    go_kind: ClassVar[str] = "uint64"


class Duration(int):
    """Go's time.Duration, in nanoseconds."""

    __slots__ = ()
    go_type: ClassVar[str] = "time.Duration"
    go_kind: ClassVar[str] = "int64"


class Strings(list[str]):
    """Go's []string."""

    __slots__ = ()
    go_type: ClassVar[str] = "[]string"
    go_kind: ClassVar[str] = "slice"


class Ints(list[int]):
    """Go's []int."""

    __slots__ = ()
    go_type: ClassVar[str] = "[]int"
    go_kind: ClassVar[str] = "slice"


class Lists(list[list[Any]]):
    """Go's [][]interface {}."""

    __slots__ = ()
    go_type: ClassVar[str] = "[][]interface {}"
    go_kind: ClassVar[str] = "slice"


class StringMap(dict[str, str]):
    """Go's map[string]string."""

    __slots__ = ()
    go_type: ClassVar[str] = "map[string]string"
    go_kind: ClassVar[str] = "map"


class ByteMap(dict[str, bytes]):
    """Go's map[string][]byte, nil when it is empty: that is how protobuf reads a map without entries."""

    __slots__ = ()
    go_type: ClassVar[str] = "map[string][]uint8"
    go_kind: ClassVar[str] = "map"


class NilMap(dict[str, Any]):
    """A map[string]interface {} that is nil: empty like any other, but JSON writes null."""

    __slots__ = ()
    go_type: ClassVar[str] = "map[string]interface {}"
    go_kind: ClassVar[str] = "map"


class NilList(list[Any]):
    """A []interface {} that is nil: empty like any other, but JSON writes null."""

    __slots__ = ()
    go_type: ClassVar[str] = "[]interface {}"
    go_kind: ClassVar[str] = "slice"


class Structure:
    """A Go struct, or a pointer to one: fields and methods by name, a text for printing, nothing else.

    A template reaches `fields` and `methods` only; a method's Function takes no receiver. `plain` is what
    Go's Print writes for the value; `fields` are printed when it is None. `json` is what Go's JSON writes for
    a struct whose fields have names for it.
    """

    __slots__ = ("_plain", "fields", "go_kind", "go_type", "json", "methods", "value")

    def __init__(
        self,
        go_type: str,
        fields: Mapping[str, Any],
        methods: Mapping[str, Function] | None = None,
        plain: Callable[[], str] | None = None,
        value: Any = None,
        json: Members | None = None,
    ) -> None:
        self.go_type = go_type
        self.go_kind = "ptr" if go_type.startswith("*") else "struct"
        self.fields = fields
        self.methods = methods or {}
        self._plain = plain
        self.json = json
        self.value = value
        """A private value of the functions that made it, such as a time; templates cannot see it."""

    def plain(self) -> str:
        """What Go's Print would write."""
        if self._plain is not None:
            return self._plain()
        inner = " ".join("<nil>" if value is None else str(value) for value in self.fields.values())
        return f"&{{{inner}}}" if self.go_kind == "ptr" else f"{{{inner}}}"

    def __str__(self) -> str:
        return self.plain()


def is_nil(value: Any) -> bool:
    """Whether a value is a nil map or slice."""
    return isinstance(value, NilMap | NilList) or (isinstance(value, ByteMap) and not value)


class _NoValue:
    """Nothing at all: what a key that is not there yields, less than a nil that is there."""

    __slots__ = ()
    go_type: ClassVar[str] = "<nil>"
    go_kind: ClassVar[str] = "invalid"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "<no value>"


NO_VALUE = _NoValue()
"""Go's zero reflect.Value. Functions never see it: they are given None."""


class Failure:
    """A Go error as a value."""

    __slots__ = ("message",)
    go_type: ClassVar[str] = "*errors.errorString"
    go_kind: ClassVar[str] = "ptr"

    def __init__(self, message: str) -> None:
        self.message = message

    def __str__(self) -> str:
        return self.message


_TYPES: dict[type, str] = {
    str: "string",
    bool: "bool",
    int: "int",
    float: "float64",
    complex: "complex128",
    bytes: "[]uint8",
    dict: "map[string]interface {}",
    list: "[]interface {}",
    type(None): "<nil>",
}
_KINDS: dict[type, str] = {**_TYPES, bytes: "slice", dict: "map", list: "slice", type(None): "invalid"}


def go_type(value: Any) -> str:
    """What `%T` prints for a value."""
    known = _TYPES.get(value.__class__)
    if known is not None:
        return known
    name: str = value.go_type
    return name


def go_kind(value: Any) -> str:
    """What reflect's Kind says of a value."""
    known = _KINDS.get(value.__class__)
    if known is not None:
        return known
    name: str = value.go_kind
    return name
