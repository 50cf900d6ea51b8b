"""Every command of the page on projects runs as printed, up to the build, which needs a registry."""

from __future__ import annotations

import pathlib

from tests.support.docs.markdown_session import Reader

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "how-to" / "projects.md"


def test_a_project_is_created_rendered_and_tested_as_printed(tmp_path: pathlib.Path) -> None:
    # Plugins that happen to be installed beside ours take seconds to start.
    quick = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "crossply.pytest_plugin"}
    Reader(tmp_path, quick).run_page(PAGE, at_least=10)
