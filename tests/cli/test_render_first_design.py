"""`render` refuses what the control plane refuses: a Composition that breaks the definition's contract."""

from __future__ import annotations

from pathlib import Path

from crossply.cli.main import main
from crossply.values.yaml import dump, load

EXAMPLE = Path(__file__).parents[2] / "examples" / "06-mysqlinstance"


def test_a_missing_connection_detail_is_reported_when_the_definition_is_known(tmp_path, capsys):
    composition = load((EXAMPLE / "composition.yaml").read_bytes())
    del composition["spec"]["to"][1]["connectionDetails"][0]
    broken = tmp_path / "composition.yaml"
    broken.write_text(dump(composition))
    words = ["render", str(EXAMPLE / "xr.yaml"), str(broken)]
    assert main(words) == 0
    assert main([*words, f"--xrd={EXAMPLE / 'definition.yaml'}"]) == 1
    assert 'exactly once: no resource provides "username"' in capsys.readouterr().err
