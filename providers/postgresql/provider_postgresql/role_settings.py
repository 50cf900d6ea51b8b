"""Settings of a role's sessions: ALTER ROLE ... SET."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from psycopg import sql

LISTS = frozenset({"search_path", "temp_tablespaces", "local_preload_libraries", "session_preload_libraries"})
"""Settings whose value is a list of names: each is quoted by itself."""


@dataclass
class ConfigurationParameter:
    """A setting, such as statement_timeout."""

    name: str
    value: str


def parse(settings: Iterable[str] | None) -> list[ConfigurationParameter]:
    """What pg_db_role_setting has: texts of the form name=value."""
    pairs = (setting.partition("=") for setting in settings or ())
    return [ConfigurationParameter(name, value) for name, _, value in pairs]


def same(desired: Sequence[ConfigurationParameter], actual: Sequence[ConfigurationParameter]) -> bool:
    """Compare, whatever the order and the quotes of lists."""
    return {option.name: _value(option) for option in desired} == {
        option.name: _value(option) for option in actual
    }


def statements(
    role: sql.Identifier, parameters: Sequence[ConfigurationParameter] | None
) -> list[sql.Composed]:
    """One ALTER ROLE for each setting."""
    return [
        sql.SQL("ALTER ROLE {} SET {} TO {}").format(
            role,
            sql.Identifier(*parameter.name.split(".")),
            sql.SQL(", ").join(sql.Literal(value) for value in _value(parameter)),
        )
        for parameter in parameters or ()
    ]


def _value(parameter: ConfigurationParameter) -> tuple[str, ...]:
    if parameter.name not in LISTS:
        return (parameter.value,)
    return tuple(name.strip().strip("\"'") for name in parameter.value.split(","))
