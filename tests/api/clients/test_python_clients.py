"""Python clients, each as a small program that fails where the server is not as the client expects it."""

from __future__ import annotations

import pytest

# One worker sets up the environment of the clients, others would meet it half done.
pytestmark = pytest.mark.xdist_group("clients")


@pytest.mark.parametrize("program", ["official.py", "with_lightkube.py", "with_kr8s.py"])
def test_a_program_finds_all_as_it_expects(run_python, widget_definition, program):
    group = widget_definition["spec"]["group"]
    assert run_python(program, group, "widgets").endswith("ok\n")
