"""Every function that a template can call, by name. Later ones hide earlier ones: sprig has a `slice` too."""

from __future__ import annotations

from crossply.functions.builtin.go_templating import builtins, extra_functions, sprig
from crossply.functions.builtin.go_templating.signatures import Function

FUNCTIONS: dict[str, Function] = {**builtins.FUNCTIONS, **extra_functions.FUNCTIONS, **sprig.FUNCTIONS}
