"""YAML by the rules of Go's sigs.k8s.io/yaml, so that every file has the same meaning as in Kubernetes.

`read_documents` and `read_first` read files; `read_stream` and `load` also return documents of comments only.
`stream` splits a file, `fast_decode` reads the usual document, `node_tree` and `decode` every document.
`dump` and `dump_all` write (`emit`). Values are plain JSON values.
"""

from __future__ import annotations

from crossply.values.yaml.emit import dump, dump_all
from crossply.values.yaml.errors import LimitError, SeparatorError, YamlError
from crossply.values.yaml.stream import Document, is_blank, load, read_documents, read_first, read_stream

__all__ = [
    "Document",
    "LimitError",
    "SeparatorError",
    "YamlError",
    "dump",
    "dump_all",
    "is_blank",
    "load",
    "read_documents",
    "read_first",
    "read_stream",
]
