"""The generated pages are current, and every error can be looked up."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys

import pytest

from tests.support.docs.pages import ROOT

TOOL = os.path.join(os.path.dirname(__file__), "..", "..", "tools", "generate_docs.py")


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("generate_docs", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_generated_page_is_stale(tool) -> None:
    assert tool.stale() == [], "run: python tools/generate_docs.py"


def test_no_kind_page_names_a_value_that_its_field_does_not_have(tool) -> None:
    """Fields of several kinds have one description, and not all kinds have all values."""
    pages = sys.modules["kind_pages"]
    problems = []
    for _, kinds in pages.PAGES.values():
        for kind in kinds:
            for field in pages.fields_of(kind):
                named = re.findall(r"`([A-Z]\w+)`", pages.meaning(kind, field))
                wrong = [word for word in named if word not in field.schema.get("enum", named)]
                problems += [f"{kind} {field.path}: {word}" for word in wrong]
    assert problems == []


def test_every_error_has_a_code_of_its_own(tool) -> None:
    names_by_code: dict[str, str] = {}
    problems = []
    for error in tool.error_classes():
        name = f"{error.__module__}.{error.__qualname__}"
        code = vars(error).get("code")
        if code is None:
            problems.append(f"{name} has no code of its own")
        elif not re.fullmatch(r"CP-[1-9]\d\d", code):
            problems.append(f"{name} has the odd code {code}")
        elif code in names_by_code:
            problems.append(f"{name} has the code of {names_by_code[code]}, {code}")
        names_by_code[code] = name
    assert problems == []


def test_every_error_has_a_meaning(tool) -> None:
    silent = [error.__qualname__ for error in tool.error_classes() if not vars(error).get("__doc__")]
    assert silent == []


def test_codes_stay_in_the_range_of_their_room(tool) -> None:
    rooms = {"values": "1", "compose": "2", "functions": "3", "kinds": "4", "schema": "4", "cli": "5"}
    rooms |= {"apply": "4", "apiserver": "6", "kube": "7", "control": "8", "xpkg": "9", "convert": "4"}
    rooms |= {
        "testing": "5",
        "checking": "5",
        "sdk": "3",
        "containers": "3",
        "provider": "8",
        "runs": "8",
        "ui": "8",
    }
    # These were parts of the command line, and users know their codes.
    rooms |= dict.fromkeys(("manifests", "validation", "rendering", "project", "resource_tree"), "5")
    moved = ("CP-801", "CP-813")  # they were the control plane's, and users know their codes
    strays = [
        f"{error.__module__}.{error.__qualname__} {error.code}"
        for error in tool.error_classes()
        if error.__module__ != "crossply.errors"
        and error.code not in moved
        and error.code[3] != rooms[error.__module__.split(".")[1]]
    ]
    assert strays == []


def test_the_picture_of_a_terminal_is_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "tools/terminal_picture.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0, "run: python tools/terminal_picture.py"
