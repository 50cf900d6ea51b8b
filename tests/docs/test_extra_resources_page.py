"""Every example of the page on extra resources runs as it is printed."""

from __future__ import annotations

import pathlib

from tests.support.docs.markdown_session import Reader
from tests.support.programs import needs

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "how-to" / "extra-resources.md"


@needs("kubectl")
def test_extra_resources_inputs_limits_and_watches_work_as_printed(tmp_path: pathlib.Path) -> None:
    reader = Reader(tmp_path)
    try:
        reader.run_page(PAGE, at_least=12)
    finally:
        reader.run("crossply down")
