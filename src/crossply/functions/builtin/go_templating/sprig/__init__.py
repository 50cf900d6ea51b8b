"""Sprig: the functions that template authors expect beside Go's own, all of version 3 but env and expandenv.

Each family is a module of its own, imported when a template first calls one of its functions: `table` says
which function lives where and what Go types its parameters have.
"""

from __future__ import annotations

from crossply.functions.builtin.go_templating.sprig.table import FUNCTIONS

__all__ = ["FUNCTIONS"]
