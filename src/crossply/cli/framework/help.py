"""Help texts, generated from the specification that the parser reads."""

from __future__ import annotations

from crossply.cli.command_registry import COMMANDS, GROUPS, TASKS, Child, children
from crossply.cli.framework.command import Command, Flag, summary
from crossply.cli.framework.failure_reports import PROGRAM
from crossply.cli.framework.flag_values import quote
from crossply.cli.framework.parser import GLOBAL_FLAGS, VERSION_FLAG

WIDTH = 100
INTRODUCTION = "Compose Kubernetes resources with Compositions and functions, compatible with Crossplane."
MATURITY = {
    "alpha": "This command is alpha: it may change or go away.",
    "beta": "This command is beta: it may still change.",
}


def render(path: str, command: Command | None, concealed: frozenset[str] = frozenset()) -> str:
    """Write the help of a command, or of a group of commands where there is none."""
    sections = [usage_line(path, command)]
    sections += _command_sections(path, command) if command else _group_sections(path, concealed)
    return "\n\n".join(section for section in sections if section) + "\n"


def usage_line(path: str, command: Command | None) -> str:
    """Write `Usage: crossply render <composite-resource> <composition> [<functions>] [flags]`."""
    words = [path] if path else []
    if command is None:
        words.append("<command>")
    else:
        words += [usage_of(flag) for flag in command.flags if flag.required]
        words += [summary(argument) for argument in command.arguments]
    return " ".join(["Usage:", PROGRAM, *words, "[flags]"])


def _command_sections(path: str, command: Command) -> list[str]:
    flags = [flag for flag in command.flags if not flag.hidden]
    arguments = [(summary(argument), argument.help) for argument in command.arguments]
    return [
        _wrap(command.summary, 0),
        _wrap(maturity_note(path), 0),
        "\n\n".join(_wrap(paragraph, 0) for paragraph in command.description.strip().split("\n\n")),
        _table("Arguments:", arguments),
        _table("Commands:", [(child.name, child.summary) for child in children(path)]),
        _table("Flags:", [(_flag_label(flag), _flag_help(flag)) for flag in (*flags, *GLOBAL_FLAGS)]),
        _examples(command.examples),
    ]


def _group_sections(path: str, concealed: frozenset[str]) -> list[str]:
    shown = [child for child in children(path, concealed) if not child.hidden] or children(path)
    flags = GLOBAL_FLAGS if path else (*GLOBAL_FLAGS, VERSION_FLAG)
    return [
        _wrap(GROUPS.get(path, "") or INTRODUCTION, 0),
        *(_command_tables(shown) if path else _task_tables(shown)),
        "" if path else _wrap(_concealed_note(concealed, shown), 0),
        _table("Flags:", [(_flag_label(flag), _flag_help(flag)) for flag in flags]),
        f'Run "{PROGRAM} {path + " " if path else ""}<command> --help" for more information on a command.',
    ]


def _concealed_note(concealed: frozenset[str], shown: list[Child]) -> str:
    """Name the commands that are left out because they are alpha; they run all the same."""
    names = {child.name for child in shown}
    visible = [child.name for child in children("") if not child.hidden and child.name not in names]
    if not visible or "alpha" not in concealed:
        return ""
    return (
        f"Also there, but alpha: {', '.join(visible)}. "
        f'"{PROGRAM} config set features.enableAlpha true" lists them.'
    )


def _command_tables(shown: list[Child]) -> list[str]:
    return [_table("Commands:", [(child.name, child.summary) for child in shown])]


def _task_tables(shown: list[Child]) -> list[str]:
    """One table a task; all have the same first column."""
    by_name = {child.name: child for child in shown}
    column = max(map(len, by_name)) + 2
    tables = []
    for title, names in TASKS.items():
        rows = [(name, by_name[name].summary) for name in names if name in by_name]
        tables.append(_table(f"{title}:", rows, column))
    return tables


def maturity_note(path: str) -> str:
    """Say how settled a command is, when it is not generally available."""
    return next((MATURITY.get(entry.maturity, "") for entry in COMMANDS if entry.path == path), "")


def _flag_label(flag: Flag) -> str:
    return (f"-{flag.short}, " if flag.short else "    ") + usage_of(flag)


def usage_of(flag: Flag) -> str:
    """A flag with its placeholder: `--xrd=PATH`."""
    return f"--{flag.name}" if flag.kind == "bool" else f"--{flag.name}={placeholder(flag)}"


def placeholder(flag: Flag) -> str:
    """Show what stands for a flag's value in usage texts: its default, or a word in capitals."""
    tail = f"{flag.separator}..." if flag.kind in ("strings", "map") and flag.separator else ""
    if flag.placeholder:
        return flag.placeholder if flag.placeholder.endswith("...") else flag.placeholder + tail
    if flag.default and isinstance(flag.default, tuple):
        return ",".join(flag.default) + tail
    if flag.default is not None and not isinstance(flag.default, (tuple, list, dict)):
        quoted = flag.kind in ("string", "path") and flag.parse is None
        return (quote(str(flag.default)) if quoted else str(flag.default)) + tail
    if flag.kind == "map":
        return "KEY=VALUE" + tail
    return {"string": "STRING", "int": "INT", "duration": "DURATION"}.get(flag.kind, "PATH") + tail


def _flag_help(flag: Flag) -> str:
    noted = f"${flag.env}" in flag.help
    return f"{flag.help} (${flag.env})".lstrip() if flag.env and not noted else flag.help


def _examples(examples: tuple[str, ...]) -> str:
    if not examples:
        return ""
    return "Examples:\n" + "\n".join("  " + line for example in examples for line in example.split("\n"))


def _table(title: str, rows: list[tuple[str, str]], column: int = 0) -> str:
    """Align two columns; a label that is too long for its column stands on a line of its own."""
    if not rows:
        return ""
    column = column or min(max(len(label) for label, _ in rows), 34) + 2
    lines = [title]
    for label, text in rows:
        wrapped = _wrap(text, column + 2)
        if len(label) > column - 2:
            lines.append(f"  {label}")
            lines.append(" " * (column + 2) + wrapped)
        else:
            lines.append(f"  {label:<{column}}{wrapped}".rstrip())
    return "\n".join(lines)


def _wrap(text: str, indent: int) -> str:
    """Break a text into lines; lines after the first are indented."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and indent + len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".lstrip()
    return ("\n" + " " * indent).join([*lines, line])
