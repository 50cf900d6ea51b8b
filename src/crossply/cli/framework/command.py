"""What a command is: its name, its arguments and flags, and the function that runs it.

The beginning of the command-line story. A command module defines one `COMMAND`; `command_registry` names
the modules, `parser` turns words into an `Invocation` by this specification, `main` runs it, and `help`,
`completions` and the generated reference read the same specification.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from crossply.errors import CrossplyError

if TYPE_CHECKING:
    from crossply.cli.framework.styling import Style

USAGE_EXIT = 80
"""The exit code of a command line that cannot be understood, as Crossplane's."""


class UsageError(CrossplyError):
    """The command line itself is wrong: an unknown flag, a missing argument, a value of the wrong form."""

    code = "CP-501"
    exit_code = USAGE_EXIT


class CommandMissing(UsageError):
    """The command line names a group of commands and none of the commands in it."""

    code = "CP-505"


class UnusablePath(UsageError):
    """A file or directory on the command line does not exist, or has the wrong type."""

    code = "CP-504"


# Plain classes, not NamedTuples: making these three as NamedTuples costs every start 2 ms.


class Flag:
    """One flag of a command.

    `kind` is one of bool, string, strings, map, int, duration, existing-file, existing-files,
    existing-dir, path and paths. A file or path arrives absolute ("-" stays "-"), a duration in seconds.
    A `default` that is a string is read as if the user had typed it. Flags that share an `exclusive` word
    cannot be used together. A `parse` of its own takes one value and raises ValueError with the sentence.
    `no_effect` says why a flag that is only accepted, because command lines of Crossplane have it, does
    nothing here.
    """

    __slots__ = (
        "aliases",
        "choices",
        "default",
        "env",
        "exclusive",
        "help",
        "hidden",
        "kind",
        "name",
        "no_effect",
        "parse",
        "placeholder",
        "required",
        "separator",
        "short",
    )

    def __init__(
        self,
        name: str,
        help: str,  # noqa: A002  the word every reader of a flag looks for
        short: str = "",
        kind: str = "bool",
        default: Any = None,
        placeholder: str = "",
        env: str = "",
        separator: str = ",",
        hidden: bool = False,
        parse: Callable[[str], Any] | None = None,
        choices: tuple[str, ...] = (),
        required: bool = False,
        exclusive: str = "",
        aliases: tuple[str, ...] = (),
        no_effect: str = "",
    ) -> None:
        self.name = name
        self.help = help
        self.short = short
        self.kind = kind
        self.default = default
        self.placeholder = placeholder
        self.env = env
        self.separator = separator
        self.hidden = hidden
        self.parse = parse
        self.choices = choices
        self.required = required
        self.exclusive = exclusive
        self.aliases = aliases
        self.no_effect = no_effect


class Argument:
    """One positional argument; with `many` it takes all remaining words."""

    __slots__ = ("choices", "default", "help", "kind", "many", "name", "optional")

    def __init__(
        self,
        name: str,
        help: str,  # noqa: A002
        kind: str = "string",
        optional: bool = False,
        many: bool = False,
        default: Any = None,
        choices: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.help = help
        self.kind = kind
        self.optional = optional
        self.many = many
        self.default = default
        self.choices = choices


def summary(argument: Argument) -> str:
    """Show an argument as usage lines do: `<name>`, `[<name>]`, `<name> ...`."""
    text = f"<{argument.name}>" + (" ..." if argument.many else "")
    return f"[{text}]" if argument.optional else text


class Command:
    """A command that can be run. `command_registry` registers it."""

    __slots__ = ("arguments", "description", "examples", "flags", "name", "run", "summary")

    def __init__(
        self,
        name: str,
        summary: str,
        run: Callable[[Invocation], int],
        arguments: tuple[Argument, ...] = (),
        flags: tuple[Flag, ...] = (),
        description: str = "",
        examples: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.summary = summary
        self.run = run
        self.arguments = arguments
        self.flags = flags
        self.description = description
        self.examples = examples


class Invocation:
    """One call of a command: the values of its arguments and flags, and the standard streams.

    `invocation["include-context"]` is a value by the name of its flag or argument, with the default where
    nothing was set; `invocation.is_set("timeout")` is whether the user or the environment set it.
    `words` is the whole command line as it was typed.
    """

    __slots__ = (
        "_set_names",
        "config",
        "config_path",
        "environ",
        "path",
        "stderr",
        "stdin",
        "stdout",
        "values",
        "words",
    )

    def __init__(
        self,
        path: str,
        values: Mapping[str, Any],
        set_names: Collection[str] = (),
        *,
        stdin: TextIO,
        stdout: TextIO,
        stderr: TextIO,
        environ: Mapping[str, str],
        config: Mapping[str, Any],
        config_path: str = "",
        words: Sequence[str] = (),
    ) -> None:
        self.path = path
        self.values = values
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.environ = environ
        self.config = config
        self.config_path = config_path
        self.words = words
        self._set_names = set_names

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def verbose(self) -> bool:
        return bool(self.values.get("verbose"))

    @property
    def style(self) -> Style:
        """Colours and symbols of standard output."""
        return self._style(self.stdout)

    @property
    def error_style(self) -> Style:
        """Colours and symbols of standard error."""
        return self._style(self.stderr)

    def _style(self, stream: TextIO) -> Style:
        from crossply.cli.framework.styling import AUTO, style_of

        return style_of(stream, self.environ, self.values.get("color") or AUTO)

    def is_set(self, name: str) -> bool:
        """Whether the value was set by the user or the environment, not by default."""
        return name in self._set_names

    def log(self, message: str) -> None:
        """Write to stderr if --verbose is set."""
        if self.verbose:
            self.stderr.write(f"crossply: {message}\n")
