"""Sprig: the template functions of sprig version 3, without env and expandenv.

A module is imported when a template first calls one of its functions. `function_table` maps each function
to its module and the Go types of its parameters.
"""

from __future__ import annotations

from crossply.functions.builtin.go_templating.sprig.function_table import FUNCTIONS

__all__ = ["FUNCTIONS"]
