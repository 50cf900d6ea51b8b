"""How the values of a kind merge: a schema, compiled once into a tree that the walks read.

A type allows up to three forms of a value: a scalar, a list, a map. A schema that says nothing allows all
three, and the value at hand decides (`form_of`). `schema_compiler` makes these trees; they are read-only
afterwards.
"""

from __future__ import annotations

from typing import Any


class ListType:
    """A list: atomic, a set of scalars (no keys), or a map of items by their key fields."""

    __slots__ = ("atomic", "element", "keys")

    def __init__(self, element: Type, atomic: bool = True, keys: tuple[str, ...] = ()) -> None:
        self.element = element
        self.atomic = atomic
        self.keys = keys


class MapType:
    """A map or struct: fields by name, and the type of other members (None: there may be none)."""

    __slots__ = ("atomic", "defaults", "element", "fields")

    def __init__(self, fields: dict[str, Type], element: Type | None, atomic: bool = False) -> None:
        self.fields = fields
        self.element = element
        self.atomic = atomic
        self.defaults: dict[str, Any] = {}


class Type:
    """The forms that a value may take; `scalar` is string, numeric, boolean, untyped or empty.

    `leaves` are the Python classes of values that fit and have nothing below them; null always fits.
    """

    __slots__ = ("leaves", "list", "map", "scalar")

    def __init__(self) -> None:
        self.scalar = ""
        self.leaves = _LEAVES[""]
        self.list: ListType | None = None
        self.map: MapType | None = None

    def allow_scalar(self, scalar: str) -> None:
        """Let values be scalars of some kind."""
        self.scalar = scalar
        self.leaves = _LEAVES[scalar]


_LEAVES: dict[str, frozenset[type]] = {
    "": frozenset((type(None),)),
    "string": frozenset((str, type(None))),
    "numeric": frozenset((int, float, type(None))),
    "boolean": frozenset((bool, type(None))),
    "untyped": frozenset((str, int, float, bool, type(None))),
}


class _Absent:
    """The side of a comparison that has no such field; null is a value."""

    __slots__ = ()


ABSENT: Any = _Absent()
SCALAR, LIST, MAP, NONE = "scalar", "list", "map", ""

_FORMS = {str: SCALAR, int: SCALAR, float: SCALAR, bool: SCALAR, list: LIST, dict: MAP}


def form_of(type_: Type, value: Any) -> tuple[str, bool]:
    """Return the form to treat a value as, and whether the value itself decided it.

    Null, an absent value and a value of a form that the type does not allow decide nothing: then the first
    form that the type has counts.
    """
    form = _FORMS.get(value.__class__, NONE)
    if form == SCALAR:
        if type_.scalar:
            return SCALAR, True
    elif form == LIST:
        if type_.list is not None:
            return LIST, True
    elif form == MAP and type_.map is not None:
        return MAP, True
    return first_form(type_), False


def first_form(type_: Type) -> str:
    """Return the form of a type where no value decides."""
    if type_.map is not None:
        return MAP
    if type_.scalar:
        return SCALAR
    return LIST if type_.list is not None else NONE


def _untyped() -> Type:
    type_ = Type()
    type_.allow_scalar("untyped")
    type_.list = ListType(type_)
    type_.map = MapType({}, type_, atomic=True)
    return type_


def _deduced() -> Type:
    type_ = Type()
    type_.allow_scalar("untyped")
    type_.list = ListType(UNTYPED)
    type_.map = MapType({}, type_)
    return type_


# Without a schema everything below is one value ...
UNTYPED = _untyped()
# ... or maps merge member by member, and lists are one value.
DEDUCED = _deduced()
