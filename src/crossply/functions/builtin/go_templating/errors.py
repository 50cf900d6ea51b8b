"""What ends a render. The messages are Go's; `function` turns them into a fatal result."""

from __future__ import annotations


class TemplateError(Exception):
    """A template cannot be read or rendered. It never leaves the function: it becomes a fatal result."""


class ParseError(TemplateError):
    """A template's text is not a template."""


class ExecError(TemplateError):
    """A template fails while it is rendered."""


class OptionError(TemplateError):
    """A template is given an option that there is not."""
