"""All functions of expressions by name, as Python functions of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from crossply.functions.builtin.kro.cel.conversions import CONVERSIONS
from crossply.functions.builtin.kro.cel.library_functions import LIBRARY_FUNCTIONS
from crossply.functions.builtin.kro.cel.list_functions import LIST_FUNCTIONS
from crossply.functions.builtin.kro.cel.operators import OPERATORS
from crossply.functions.builtin.kro.cel.text_functions import TEXT_FUNCTIONS
from crossply.functions.builtin.kro.cel.times import GETTERS, part_of

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **OPERATORS,
    **CONVERSIONS,
    **TEXT_FUNCTIONS,
    **LIST_FUNCTIONS,
    **LIBRARY_FUNCTIONS,
    **{name: partial(part_of, name) for name in GETTERS},
}
