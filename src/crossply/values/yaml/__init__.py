"""YAML by the rules of Go's sigs.k8s.io/yaml, so that every file means here what it means to Kubernetes.

`read_stream` and `load` read (`stream` splits, `build` is the fast way, `tree` and `decode` the careful
one), `dump` and `dump_all` write (`emit`). Values are plain JSON values.
"""

from __future__ import annotations

from crossply.values.yaml.emit import dump, dump_all
from crossply.values.yaml.problems import LimitError, SeparatorError, YamlError
from crossply.values.yaml.stream import Document, load, read_stream

__all__ = ["Document", "LimitError", "SeparatorError", "YamlError", "dump", "dump_all", "load", "read_stream"]
