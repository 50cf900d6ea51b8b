"""Help texts: the usage line of kong, aligned tables, and nothing that does not exist."""

from __future__ import annotations

from crossply.cli import command_registry
from crossply.cli.framework.command import Argument, Command, Flag
from crossply.cli.framework.help import WIDTH, placeholder, render, usage_line
from crossply.cli.render.command import COMMAND as RENDER
from crossply.functions.builtin import PUBLISHED

COMMAND = Command(
    "render",
    "Render a resource.",
    lambda invocation: 0,
    arguments=(
        Argument("composite-resource", "A YAML file."),
        Argument("composition", "A YAML file."),
        Argument("functions", "A YAML file or directory.", optional=True),
    ),
    flags=(
        Flag("include-context", "Include the context. " * 8, short="c"),
        Flag("timeout", "How long to run.", kind="duration", default="1m"),
        Flag("secret", "Not shown.", hidden=True),
        Flag("a-flag-whose-name-is-much-longer-than-the-column", "Its help follows below.", kind="string"),
        Flag("cache-dir", "Where to cache.", kind="string", env="PAINT_CACHE"),
    ),
    description="First paragraph.\n\nSecond paragraph.",
    examples=("crossply render xr.yaml composition.yaml functions.yaml",),
)


def test_the_usage_line_shows_arguments_as_kong_does() -> None:
    expected = "Usage: crossply render <composite-resource> <composition> [<functions>] [flags]"
    assert usage_line("render", COMMAND) == expected


def test_the_usage_line_shows_flags_that_are_needed() -> None:
    flags = (Flag("size", "", kind="int"), Flag("image", "", kind="string", required=True))
    command = Command("x", "", lambda invocation: 0, arguments=(Argument("place", ""),), flags=flags)
    assert usage_line("x", command) == "Usage: crossply x --image=STRING <place> [flags]"


def test_help_shows_arguments_flags_and_examples_in_aligned_columns() -> None:
    text = render("render", COMMAND)
    assert "\nFirst paragraph.\n\nSecond paragraph.\n" in text
    assert "  <composite-resource>  A YAML file.\n" in text
    assert "      --timeout=1m" in text
    assert "--secret" not in text
    assert "Where to cache. ($PAINT_CACHE)" in text
    assert text.endswith("Examples:\n  crossply render xr.yaml composition.yaml functions.yaml\n")


def test_no_line_of_help_is_too_long_or_ends_in_spaces() -> None:
    for line in render("render", COMMAND).splitlines():
        assert len(line) <= WIDTH
        assert line == line.rstrip()


def test_help_shows_the_maturity_of_a_command() -> None:
    assert "This command is beta" in render("xrd convert", COMMAND)
    assert "This command is" not in render("render", COMMAND)


def test_commands_of_a_concealed_maturity_are_left_out() -> None:
    assert "\n  xrd " in render("", None)
    assert "\n  xrd " not in render("", None, frozenset({"beta"}))


def test_alpha_commands_that_are_not_listed_are_named() -> None:
    assert "Also there, but alpha: operation, xr." in render("", None, frozenset({"alpha"}))
    assert "Also there" not in render("", None)


def test_the_program_lists_common_commands_first_and_compatible_spellings_last() -> None:
    text = render("", None)
    words = ["\n  render ", "\n  up ", "\n  trace ", "\n  xpkg ", "\n  composition "]
    assert sorted(words, key=text.index) == words


def test_every_visible_command_belongs_to_a_task() -> None:
    names = [name for names in command_registry.TASKS.values() for name in names]
    assert len(set(names)) == len(names)
    assert {child.name for child in command_registry.children("") if not child.hidden} <= set(names)


def test_other_names_are_not_listed_at_the_top_but_a_hidden_group_shows_its_commands() -> None:
    assert "\n  beta " not in render("", None)
    assert "\n  render " in render("internal", None)


def test_placeholders_are_those_of_kong() -> None:
    rows = [
        (Flag("a", "", kind="string"), "STRING"),
        (Flag("a", "", kind="string", default="x"), '"x"'),
        (Flag("a", "", kind="int", default=8), "8"),
        (Flag("a", "", kind="map", separator=";"), "KEY=VALUE;..."),
        (Flag("a", "", kind="strings", placeholder="KEY=VALUE"), "KEY=VALUE,..."),
        (Flag("a", "", kind="strings", placeholder="KEY=VALUE,..."), "KEY=VALUE,..."),
        (Flag("a", "", kind="strings", placeholder="NAME", separator=""), "NAME"),
        (Flag("a", "", kind="strings", default=("x", "y")), "x,y,..."),
        (Flag("a", "", kind="paths", placeholder="PATH"), "PATH"),
        (Flag("a", "", kind="existing-file"), "PATH"),
    ]
    for flag, expected in rows:
        assert placeholder(flag) == expected


def test_every_group_of_the_tree_has_a_line_about_its_purpose() -> None:
    commands = {entry.path for entry in command_registry.COMMANDS}
    groups = {path.rpartition(" ")[0] for path in commands} - commands - {""}
    assert groups == set(command_registry.GROUPS)


def test_the_help_of_render_names_every_built_in_function() -> None:
    assert RENDER.description.endswith(f"run without Docker: {', '.join(PUBLISHED)}.")
