"""What is known about the type parameters of an expression while it is checked."""

from __future__ import annotations

from crossply.functions.builtin.kro.cel.types import DYN, NULLABLE, Type

_CONTAINERS = frozenset(("list", "map", "abstract", "type"))


class Substitutions:
    """Types by the name of the type parameter that they take the place of."""

    def __init__(self) -> None:
        self._types: dict[str, Type] = {}
        self._fresh = 0

    def fresh(self) -> Type:
        """A type parameter that nothing is known about."""
        self._fresh += 1
        return Type("parameter", (), f"_var{self._fresh - 1}")

    def unify(self, pairs: list[tuple[Type, Type]]) -> bool:
        """Whether each first type can take the place of the second; remembers what follows if all can."""
        before = dict(self._types)
        if all(self._assignable(one, other) for one, other in pairs):
            return True
        self._types = before
        return False

    def resolve(self, type_: Type, is_final: bool = False) -> Type:
        """A type with all that is known put in; a parameter that stays unknown is dynamic in the end."""
        if type_.kind == "parameter":
            known = self._types.get(type_.name)
            if known is not None:
                return self.resolve(known, is_final)
            return DYN if is_final else type_
        if not type_.parameters:
            return type_
        return type_._replace(parameters=tuple(self.resolve(part, is_final) for part in type_.parameters))

    def join(self, one: Type | None, other: Type) -> Type:
        """The type of elements of both types."""
        if one is None:
            return other
        return most_general(one, other) if self.unify([(one, other)]) else DYN

    def _assignable(self, one: Type, other: Type) -> bool:
        if other.kind == "parameter":
            fits, is_known = self._substitutes(one, other)
            if fits or is_known:
                return fits
        if one.kind == "parameter":
            return self._substitutes(other, one)[0]
        if one.kind in ("dyn", "error") or other.kind in ("dyn", "error"):
            return True
        if one.kind == "null" or other.kind == "null":
            return one.kind == other.kind or (other if one.kind == "null" else one).kind in NULLABLE
        if (one.kind, one.name) != (other.kind, other.name):
            return False
        if one.kind == "type":
            return True
        if len(one.parameters) != len(other.parameters):
            return False
        return all(
            self._assignable(mine, its) for mine, its in zip(one.parameters, other.parameters, strict=True)
        )

    def _substitutes(self, type_: Type, unknown: Type) -> tuple[bool, bool]:
        """Whether a type can be that of a type parameter, and whether that had one before."""
        if type_ == unknown:
            return True, True
        known = self._types.get(unknown.name)
        if known is None:
            if self._occurs(unknown, type_):
                return False, False
            self._types[unknown.name] = type_
            return True, False
        if type_ == known:
            return True, True
        if not self._assignable(type_, known):
            return False, True
        general = most_general(type_, known)
        if not self._occurs(unknown, general):
            self._types[unknown.name] = general
        return True, True

    def _occurs(self, unknown: Type, within: Type) -> bool:
        if within == unknown:
            return True
        if within.kind == "parameter":
            known = self._types.get(within.name)
            return known is not None and self._occurs(unknown, known)
        return within.kind in _CONTAINERS and any(self._occurs(unknown, part) for part in within.parameters)


def most_general(one: Type, other: Type) -> Type:
    return one if _is_less_specific(one, other) else other


def _is_less_specific(one: Type, other: Type) -> bool:
    """Whether the first type is the second, or one that is dynamic where the second is not."""
    if one.kind in ("dyn", "parameter"):
        return True
    if other.kind in ("dyn", "parameter") or one.kind != other.kind:
        return False
    if one.kind == "type":
        return True
    if one.name != other.name or len(one.parameters) != len(other.parameters):
        return False
    return all(
        _is_less_specific(mine, its) for mine, its in zip(one.parameters, other.parameters, strict=True)
    )
