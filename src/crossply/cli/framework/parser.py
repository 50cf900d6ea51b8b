"""Parses a command line as `crossplane` (kong) does, so that its command lines work unchanged.

`parse` walks the tree of commands word by word: flags may stand anywhere, short flags may be grouped
(`-rx`), a value may be glued (`-ovalue`, `--flag=value`) or the next word, `--` ends the flags. The walk
stops at the first thing that is wrong; what is missing is looked for afterwards. The sentences and their
order are kong's, because scripts and users rely on them. See docs/decisions/0002-command-line-parser.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crossply.cli.command_registry import children, load
from crossply.cli.framework import flag_values as values
from crossply.cli.framework.argument_validation import check_complete, command_missing, unreadable
from crossply.cli.framework.command import Argument, Command, Flag, UsageError, summary

GLOBAL_FLAGS = (
    Flag("help", "Show context-sensitive help.", short="h"),
    Flag(
        "config",
        "Path to the crossplane CLI configuration file ($CROSSPLANE_CONFIG).",
        kind="string",
        placeholder="PATH",
        env="CROSSPLANE_CONFIG",
    ),
    Flag("verbose", "Print verbose logging statements."),
    Flag(
        "color",
        "Use colors: auto (on terminals, unless NO_COLOR is set), always or never.",
        kind="string",
        default="auto",
        choices=("auto", "always", "never"),
    ),
)

VERSION_FLAG = Flag("version", "Print the version of this program.")
"""Understood before the first command."""

# What a word on the stack is known to be; the texts appear in messages. A word not read yet is UNTYPED.
UNTYPED = "untyped"
LONG = "long flag"
SHORT = "short flag"
SHORT_TAIL = "short flag tail"
FLAG_VALUE = "flag value"
POSITIONAL = "positional argument"
END = "<EOL>"

Token = tuple[str, str]


class Parsed:
    """How far the words were understood: the command, and the values given so far.

    It is filled in place so that, when parsing fails, the usage of the right command can be shown.
    """

    __slots__ = ("arguments", "command", "concealed", "flags", "path", "unknown_command", "values")

    def __init__(self, concealed: frozenset[str] = frozenset()) -> None:
        self.concealed = concealed
        self.path = ""
        self.command: Command | None = None
        self.flags: tuple[Flag, ...] = (*GLOBAL_FLAGS, VERSION_FLAG)
        self.values: dict[str, Any] = {}
        self.arguments = 0
        self.unknown_command = ""

    def enter(self, path: str, command: Command | None) -> None:
        """Go down to a group, or to a command whose flags are understood from here on."""
        self.path = path
        self.command = command
        self.flags = GLOBAL_FLAGS + (command.flags if command else ())

    @property
    def wants_help(self) -> bool:
        return bool(self.values.get("help"))

    @property
    def wants_version(self) -> bool:
        return self.command is None and bool(self.values.get("version"))


def parse(words: list[str], environ: Mapping[str, str], parsed: Parsed) -> dict[str, Any]:
    """Read all words into `parsed` and return the value of every flag and argument, defaults included."""
    _Walk(words, parsed).run()
    if parsed.wants_help or parsed.wants_version:
        return {}
    _read_environment(parsed, environ)
    if parsed.command is None:
        raise command_missing(parsed.path, parsed.concealed)
    check_complete(parsed.command, parsed.flags, parsed.values, parsed.arguments)
    return _with_defaults(parsed)


class _Walk:
    """The words still to read, as a stack, and what to do with the one on top."""

    __slots__ = ("parsed", "stack")

    def __init__(self, words: list[str], parsed: Parsed) -> None:
        self.stack: list[Token] = [(UNTYPED, word) for word in reversed(words)]
        self.parsed = parsed

    def run(self) -> None:
        while self.stack:
            kind, text = self.stack.pop()
            if kind == UNTYPED:
                self.classify(text)
            elif kind == SHORT_TAIL:
                self.push_short(text)
            elif kind == LONG:
                self.flag("--" + text)
            elif kind == SHORT:
                self.flag("-" + text)
            elif kind == FLAG_VALUE:
                raise UsageError(f"unexpected flag argument {values.quote(text)}")
            else:
                self.positional(text)

    def classify(self, word: str) -> None:
        if word == "--":
            self.stack = [(POSITIONAL, _plain(token)) for token in self.stack]
        elif word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if equals:
                self.stack.append((FLAG_VALUE, value))
            self.stack.append((LONG, name))
        elif word.startswith("-") and word != "-":
            self.push_short(word[1:])
        else:
            self.stack.append((POSITIONAL, word))

    def push_short(self, letters: str) -> None:
        if letters[1:]:
            self.stack.append((SHORT_TAIL, letters[1:]))
        self.stack.append((SHORT, letters[:1]))

    def flag(self, spelling: str) -> None:
        candidates = []
        for flag in self.parsed.flags:
            names = _spellings(flag)
            if spelling in names:
                self.parsed.values[flag.name] = self.flag_value(flag)
                return
            candidates += names
        from crossply.cli.framework.suggestions import unknown_flag

        raise unknown_flag(spelling, candidates)

    def flag_value(self, flag: Flag) -> Any:
        if flag.kind == "bool":
            glued = bool(self.stack) and self.stack[-1][0] == FLAG_VALUE
            return _read(flag, self.stack.pop()[1], None) if glued else True
        token = self.stack.pop() if self.stack else (END, "EOL")
        if token[0] == END and flag.kind in (*values.LIST_KINDS, "map"):
            raise UsageError(f"--{flag.name}: missing value, expecting {_expected_list(flag)}")
        if not _is_value(token):
            raise UsageError(_expected_value(flag, token))
        return _read(flag, token[1], self.parsed.values.get(flag.name))

    def positional(self, word: str) -> None:
        command = self.parsed.command
        # A command may have others below it: `apiserver` runs a server, `apiserver backup` copies its data.
        if command is None or (not self.parsed.arguments and self.leads_on(command, word)):
            self.enter(word)
        elif self.parsed.arguments < len(command.arguments):
            self.argument(command.arguments[self.parsed.arguments], word)
        else:
            raise UsageError(f"unexpected argument {word}")

    def leads_on(self, command: Command, word: str) -> bool:
        """Whether the word is, or should have been, one of the commands below a command."""
        names = [child.name for child in children(self.parsed.path)]
        return word in names or (bool(names) and not command.arguments)

    def enter(self, word: str) -> None:
        for child in children(self.parsed.path, self.parsed.concealed):
            if child.name == word:
                path = f"{self.parsed.path} {word}".lstrip()
                self.parsed.enter(path, load(child.entry) if child.entry else None)
                return
        self.parsed.unknown_command = word
        from crossply.cli.framework.suggestions import unknown_command

        raise unknown_command(self.parsed.path, word, self.parsed.concealed)

    def argument(self, argument: Argument, word: str) -> None:
        texts = [word]
        while argument.many and self.stack and _is_value(self.stack[-1]):
            texts.append(self.stack.pop()[1])
        try:
            read = [values.read_value(argument.kind, text) for text in texts]
        except ValueError as problem:
            raise unreadable(summary(argument), problem) from None
        self.parsed.values[argument.name] = read if argument.many else read[0]
        self.parsed.arguments += 1


def _plain(token: Token) -> str:
    kind, text = token
    return {LONG: "--", SHORT: "-"}.get(kind, "") + text


def _spellings(flag: Flag) -> list[str]:
    names = ["--" + flag.name, *(["-" + flag.short] if flag.short else ())]
    return names + ["--" + alias for alias in flag.aliases]


def _inferred(token: Token) -> str:
    kind, text = token
    if kind != UNTYPED or not text.startswith("-"):
        return kind
    if text == "-":
        return POSITIONAL
    return LONG if text.startswith("--") else SHORT


def _is_value(token: Token) -> bool:
    return _inferred(token) in (FLAG_VALUE, SHORT_TAIL, POSITIONAL, UNTYPED)


def _expected_value(flag: Flag, token: Token) -> str:
    kind = values.LIST_KINDS.get(flag.kind, flag.kind)
    expected = kind if kind == "map" else values.PLACEHOLDERS.get(kind, "string")
    type_ = _inferred(token)
    sentence = f"--{flag.name}: expected {expected} value but got {values.quote(token[1])} ({type_})"
    if type_ in (LONG, SHORT):
        sentence += f"; perhaps try --{flag.name}={values.quote(token[1])}?"
    return sentence


def _expected_list(flag: Flag) -> str:
    return f'"<key>=<value>{flag.separator}..."' if flag.kind == "map" else f'"<arg>{flag.separator}..."'


def _read(flag: Flag, text: str, before: Any) -> Any:
    try:
        return values.read_flag(flag, text, before)
    except ValueError as problem:
        raise unreadable(f"--{flag.name}", problem) from None


def _read_environment(parsed: Parsed, environ: Mapping[str, str]) -> None:
    for flag in parsed.flags:
        text = environ.get(flag.env, "") if flag.env else ""
        if not text or flag.name in parsed.values:
            continue
        try:
            parsed.values[flag.name] = _read(flag, text, None)
        except UsageError as problem:
            raise problem.replace(message=f"{problem} (from envar {flag.env}={values.quote(text)})") from None


def _with_defaults(parsed: Parsed) -> dict[str, Any]:
    result = {flag.name: values.default_of(flag) for flag in parsed.flags if flag.name not in parsed.values}
    for argument in parsed.command.arguments if parsed.command else ():
        result[argument.name] = [] if argument.many else argument.default
    return {**result, **parsed.values}
