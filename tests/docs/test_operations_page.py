"""The Operations of the page can be rendered as they are printed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.docs.pages import ROOT, read

CROSSPLY = str(Path(sys.executable).parent / "crossply")
FUNCTION = """
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-go-templating}
spec: {package: "xpkg.crossplane.io/crossplane-contrib/function-go-templating:v0.11.0"}
"""
SETTINGS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default, labels: {team: blue}}
"""


@pytest.mark.parametrize(
    ("kind", "flag"),
    [
        ("Operation", "--required-resources"),
        ("CronOperation", "--required-resources"),
        ("WatchOperation", "--watched-resource"),
    ],
)
def test_every_operation_of_the_page_applies_a_config_map(tmp_path: Path, kind: str, flag: str) -> None:
    page = read(ROOT / "docs" / "how-to" / "operations.md")
    [printed] = [block.text for block in page.blocks if f"kind: {kind}\n" in block.text]
    for name, text in (("operation", printed), ("functions", FUNCTION), ("settings", SETTINGS)):
        (tmp_path / f"{name}.yaml").write_text(text)
    done = subprocess.run(
        [CROSSPLY, "operation", "render", "operation.yaml", "functions.yaml", flag, "settings.yaml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "ConfigMap" in [obj["kind"] for obj in yaml.safe_load_all(done.stdout)]
