"""Private names of a module can be used from another one, as the published function allows it."""

from __future__ import annotations

import pytest

from crossply.functions.builtin.kcl.shared_private_names import with_shared_members


def test_a_private_name_that_another_module_uses_is_shared() -> None:
    files = {
        "/main/main.k": 'import resources as r\na = r._xr\n_xr2 = "my_xr"\nb = r.public\n',
        "/main/resources.k": "_xr = {x = 1}\n_other = _xr\npublic = {y = _xr}\n",
        "/packages/lib/x.k": "_xr = 2\n",
    }
    changed = with_shared_members(files, {"lib": "/packages/lib"})
    assert changed == {
        "/main/main.k": 'import resources as r\na = r.crossply_shared_xr\n_xr2 = "my_xr"\nb = r.public\n',
        "/main/resources.k": (
            "crossply_shared_xr = {x = 1}\n_other = crossply_shared_xr\npublic = {y = crossply_shared_xr}\n"
        ),
        "/packages/lib/x.k": "_xr = 2\n",
    }


@pytest.mark.parametrize(
    ("program", "defined"),
    [
        ("import lib.deep as d\na = d._x\n", "/packages/lib/deep/x.k"),
        ("import .deep as d\na = d._x\n", "/main/deep/x.k"),
        ("import deep.x\na = x._x\n", "/main/deep/x.k"),
    ],
)
def test_it_is_shared_wherever_the_module_is(program: str, defined: str) -> None:
    changed = with_shared_members({"/main/main.k": program, defined: "_x = 1\n"}, {"lib": "/packages/lib"})
    assert changed[defined] == "crossply_shared_x = 1\n"
    assert "._x" not in changed["/main/main.k"]
