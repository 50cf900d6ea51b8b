"""The committed protobuf classes are what the .proto files give."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROTO = "crossply/functions/proto"


def test_regenerating_the_protobuf_classes_changes_nothing(tmp_path):
    script = [str(ROOT / "tools" / "generate_protos.sh"), sys.executable]
    subprocess.run(script, check=True, env={**os.environ, "OUTPUT": str(tmp_path)}, capture_output=True)
    paths = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.p*"))
    assert len(paths) == 12
    for path in paths:
        assert (tmp_path / path).read_text() == (ROOT / "src" / path).read_text(), path
