"""Tests as Go templates: all files of a directory are one template, which is rendered without data.

Templates have sprig's functions and no others, as in `up test`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from crossply.functions.builtin.go_templating import sprig
from crossply.functions.builtin.go_templating.engine import builtin_functions
from crossply.functions.builtin.go_templating.engine.errors import ExecError, ParseError
from crossply.functions.builtin.go_templating.engine.nodes import Source
from crossply.functions.builtin.go_templating.engine.signatures import Function
from crossply.functions.builtin.go_templating.program import compile_source
from crossply.functions.builtin.go_templating.template_sources import SourceError, read_templates
from crossply.testing.suite_field_reader import SuiteError
from crossply.values import Object
from crossply.values.yaml import YamlError, read_documents


def printed_by_templates(directory: str, variables: Mapping[str, str]) -> Object:
    """The object that the templates of a directory are rendered to; `variables` are what `env` sees."""
    try:
        text = read_templates(directory, [os.path.realpath(directory)])
        rendered = compile_source(Source("", text), _functions(variables)).render(None)
        documents = read_documents(rendered.encode("utf-8", "surrogateescape"), directory)
    except (SourceError, ParseError, ExecError) as problem:
        raise SuiteError(f"cannot render the templates: {problem}", place=directory) from None
    except YamlError as problem:
        raise SuiteError(f"the templates are not rendered to YAML: {problem}", place=directory) from None
    objects = [document.value for document in documents if isinstance(document.value, dict)]
    return next((obj for obj in objects if "items" in obj), {})


def _functions(variables: Mapping[str, str]) -> dict[str, Function]:
    return {
        **builtin_functions.FUNCTIONS,
        **sprig.FUNCTIONS,
        "env": Function(lambda name: variables.get(name, ""), ("string",)),
    }
