"""Every example of the page on extra resources runs as it is printed."""

from __future__ import annotations

import pathlib
import re

import pytest

from tests.support.docs.markdown_session import Reader
from tests.support.programs import needs

DOCS = pathlib.Path(__file__).parents[2] / "docs"
PAGE = DOCS / "how-to" / "extra-resources.md"


@needs("kubectl")
def test_extra_resources_inputs_limits_and_watches_work_as_printed(tmp_path: pathlib.Path) -> None:
    reader = Reader(tmp_path)
    try:
        reader.run_page(PAGE, at_least=12)
    finally:
        reader.run("crossply down")


@pytest.mark.parametrize("page", ["composition", "operations"])
def test_the_reference_describes_the_patterns_of_a_rule(page: str) -> None:
    """A rule limits a function: whoever takes its name for that of a requirement limits nothing."""
    text = (DOCS / "reference" / "kinds" / f"{page}.md").read_text()
    rows = dict(
        re.findall(
            r"^\| `spec\.pipeline\[\]\.allowedExtraResources\[\]\.(\w+)` \| \w+ \| (.*) \|$", text, re.M
        )
    )
    assert "regular expression that matches the whole name" in rows["name"]
    assert "regular expression that matches the whole value" in rows["matchLabels"]
    assert rows["matchName"] == "The same as `name`."
