"""Command lines are read as kong reads them: the same words accepted, the same sentences for the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.cli.framework.command import Argument, Command, Flag, UsageError
from crossply.cli.framework.parser import Parsed, parse


def output_format(text: str) -> str:
    if text not in ("text", "json"):
        raise ValueError(f'unknown output format: "{text}"')
    return text


COMMAND = Command(
    "paint",
    "Paint a wall.",
    lambda invocation: 0,
    arguments=(
        Argument("wall", "The wall."),
        Argument("colour", "The colour."),
        Argument("brush", "The brush.", optional=True),
    ),
    flags=(
        Flag("glossy", "Shiny paint.", short="g"),
        Flag("extra-coat", "Paint twice.", short="x"),
        Flag("output", "Format.", short="o", kind="string", default="text", parse=output_format),
        Flag("tape", "Tape.", short="t", kind="strings"),
        Flag("note", "Notes, with commas.", kind="strings", separator=""),
        Flag("mix", "Mixture.", short="m", kind="map", separator=";"),
        Flag("coats", "How many.", kind="int", default="2"),
        Flag("dry", "How long to dry.", kind="duration", default="1m"),
        Flag("plan", "A plan.", kind="existing-file"),
        Flag("plans", "Plans.", kind="existing-files"),
        Flag("folder", "A folder.", kind="existing-dir"),
        Flag("save", "Where to save.", kind="path"),
        Flag("tool", "Tool.", kind="string", choices=("brush", "roller"), default="brush"),
        Flag("inside", "Only inside.", exclusive="side"),
        Flag("outside", "Only outside.", exclusive="side"),
        Flag("cache", "Cache.", kind="string", env="PAINT_CACHE", aliases=("store",)),
        Flag("size", "Size.", kind="int", env="PAINT_SIZE"),
    ),
)


def read(*words: str, **environ: str) -> dict[str, object]:
    parsed = Parsed()
    parsed.enter("paint", COMMAND)
    return parse(list(words), environ, parsed)


def refusal(*words: str, **environ: str) -> str:
    with pytest.raises(UsageError) as caught:
        read(*words, **environ)
    return str(caught.value)


ACCEPTED = [
    (["north", "red"], "brush", None, "an optional argument may be left out"),
    (["north", "red", "flat"], "brush", "flat", "arguments are taken in order"),
    (["--glossy", "north", "-x", "red"], "colour", "red", "flags may stand between arguments"),
    (["north", "red", "--glossy"], "glossy", True, "a bool flag needs no value"),
    (["north", "red", "--glossy=no"], "glossy", False, "a bool flag may have one"),
    (["north", "red", "--glossy=YES"], "glossy", True, "whatever its case"),
    (["north", "red", "-gx"], "extra-coat", True, "short flags may be grouped"),
    (["north", "red", "-gojson"], "output", "json", "the last of a group may have a glued value"),
    (["north", "red", "-o", "json"], "output", "json", "or the next word"),
    (["north", "red", "--output", "json"], "output", "json", "a long flag takes the next word"),
    (["north", "red", "--output=json"], "output", "json", "or what follows its equals sign"),
    (["north", "red", "-o", "json", "-o", "text"], "output", "text", "the last one counts"),
    (["north", "red"], "output", "text", "the default is read like a value"),
    (["north", "red", "-t", "a,b", "--tape=c"], "tape", ["a", "b", "c"], "lists split at commas and repeat"),
    (["north", "red", "-t", r"a\,b"], "tape", ["a,b"], "a comma can be escaped"),
    (["north", "red"], "tape", [], "a list that is not given is empty"),
    (["north", "red", "--note", "a,b"], "note", ["a,b"], "no separator: a comma is a letter"),
    (["north", "red", "-m", "a=1;b=2", "--mix=c=x=y"], "mix", {"a": "1", "b": "2", "c": "x=y"}, "maps grow"),
    (["north", "red", "--coats", "3"], "coats", 3, "a number"),
    (["north", "red"], "coats", 2, "a number by default"),
    (["north", "red", "--dry=1h2m3.5s"], "dry", 3723.5, "a Go duration is in seconds"),
    (["north", "red"], "dry", 60.0, "a duration by default"),
    (["--", "north", "--glossy"], "colour", "--glossy", "nothing is a flag after --"),
    (["-", "red"], "wall", "-", "a lone dash is an argument"),
    (["north", "red", "--output", "json"], "verbose", False, "global flags have values too"),
    (["north", "red", "--verbose"], "verbose", True, "and may stand after the command"),
    (["north", "red", "--store=x"], "cache", "x", "another spelling of a flag"),
    (["north", "red", "--plan", "-"], "plan", "-", "a dash is stdin, not a file"),
]


@pytest.mark.parametrize(("words", "name", "value", "why"), ACCEPTED, ids=[row[3] for row in ACCEPTED])
def test_accepted_arguments(words: list[str], name: str, value: object, why: str) -> None:
    assert read(*words)[name] == value, why


REFUSED = [
    (["north", "red", "--frobnicate"], "unknown flag --frobnicate"),
    (["north", "red", "--glosy"], 'unknown flag --glosy, did you mean "--glossy"?'),
    (["north", "red", "--out"], 'unknown flag --out, did you mean one of "--output", "--outside"?'),
    (["north", "red", "--out=3"], 'unknown flag --out, did you mean one of "--output", "--outside"?'),
    (["north", "red", "flat", "more"], "unexpected argument more"),
    ([], 'expected "<wall> <colour>"'),
    (["north"], 'expected "<colour>"'),
    (["--glossy=maybe"], '--glossy: bool value must be true, 1, yes, false, 0 or no but got "maybe"'),
    (["--output=xml"], '--output: unknown output format: "xml"'),
    (["--output"], '--output: expected string value but got "EOL" (<EOL>)'),
    (
        ["--output", "--glossy"],
        '--output: expected string value but got "--glossy" (long flag); perhaps try --output="--glossy"?',
    ),
    (["--coats", "-1"], '--coats: expected int value but got "-1" (short flag); perhaps try --coats="-1"?'),
    (["--coats", "x"], '--coats: expected a valid 64 bit int but got "x"'),
    (["--coats", "1_0"], '--coats: expected a valid 64 bit int but got "1_0"'),
    (["--coats", "9" * 30], f'--coats: expected a valid 64 bit int but got "{"9" * 30}"'),
    (["--dry", "x"], '--dry: expected duration but got "x": time: invalid duration "x"'),
    (["--dry", "5"], '--dry: expected duration but got "5": time: missing unit in duration "5"'),
    (["--dry", "5d"], '--dry: expected duration but got "5d": time: unknown unit "d" in duration "5d"'),
    (["--tape"], '--tape: missing value, expecting "<arg>,..."'),
    (["--mix"], '--mix: missing value, expecting "<key>=<value>;..."'),
    (["--mix", "a"], '--mix: expected "<key>=<value>" but got "a"'),
    (["north", "red", "--tool=hand"], '--tool must be one of "brush","roller" but got "hand"'),
    (["north", "red", "--inside", "--outside"], "--inside and --outside can't be used together"),
    (["--glossy", "--tool=hand"], '--tool must be one of "brush","roller" but got "hand"'),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED, ids=[" ".join(row[0])[:40] for row in REFUSED])
def test_refused_arguments_and_their_messages(words: list[str], sentence: str) -> None:
    assert refusal(*words) == sentence


def test_files_are_checked_and_become_absolute(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.yaml").write_text("")
    here = str(tmp_path)
    assert read("n", "r", "--plan", "plan.yaml")["plan"] == f"{here}/plan.yaml"
    assert read("n", "r", "--plans", "plan.yaml,./plan.yaml")["plans"] == [f"{here}/plan.yaml"] * 2
    assert read("n", "r", "--folder", ".")["folder"] == here
    assert read("n", "r", "--save", "x/../y")["save"] == f"{here}/y"
    assert refusal("--plan", "no.yaml") == f"--plan: stat {here}/no.yaml: no such file or directory"
    assert refusal("--plan", ".") == f'--plan: "{here}" exists but is a directory'
    assert refusal("--folder", "plan.yaml") == f'--folder: "{here}/plan.yaml" exists but is not a directory'
    assert refusal("--folder", "plan.yaml/x") == f"--folder: stat {here}/plan.yaml/x: not a directory"


def test_a_home_directory_is_resolved(monkeypatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")
    assert read("n", "r", "--save", "~/plans")["save"] == "/somewhere/plans"


def test_the_environment_gives_values_that_the_command_line_overrides() -> None:
    assert read("n", "r", PAINT_CACHE="a")["cache"] == "a"
    assert read("n", "r", "--cache=b", PAINT_CACHE="a")["cache"] == "b"
    wrong = '--size: expected a valid 64 bit int but got "x" (from envar PAINT_SIZE="x")'
    assert refusal("n", "r", PAINT_SIZE="x") == wrong


def test_commands_are_resolved_in_the_tree_after_global_flags() -> None:
    parsed = Parsed()
    values = parse(["--verbose", "version", "--client"], {}, parsed)
    assert (parsed.path, values["client"], values["verbose"]) == ("version", True, True)


TREE = [
    ([], 'expected one of "cluster", "composition", '),
    (["config"], 'expected one of "set", "view"'),
    (["compositon"], 'unexpected argument compositon, did you mean "composition"?'),
    (["elephant"], "unexpected argument elephant"),
    (["--nope", "version"], "unknown flag --nope"),
]


@pytest.mark.parametrize(("words", "sentence"), TREE)
def test_words_that_are_no_command(words: list[str], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(words, {}, Parsed())
    assert str(caught.value).startswith(sentence)


def test_an_argument_of_many_words_takes_the_rest_but_no_flags() -> None:
    parsed = Parsed()
    many = Command(
        "x", "", lambda i: 0, (Argument("words", "", many=True, optional=True),), (Flag("on", ""),)
    )
    parsed.enter("x", many)
    assert parse(["a", "b", "--on"], {}, parsed)["words"] == ["a", "b"]


def test_a_required_flag_is_missed() -> None:
    parsed = Parsed()
    needs = Flag("xrd", "", kind="existing-file", required=True, placeholder="PATH")
    parsed.enter("x", Command("x", "", lambda i: 0, (), (needs, Flag("b", "", required=True))))
    with pytest.raises(UsageError, match=r"^missing flags: --b, --xrd=PATH$"):
        parse([], {}, parsed)


TRICKY = ["-", "--", "-o", "--output", "--mix=", "-gx", "--dry=1h", "--coats=1", "--glossy=", "-t", "--help"]
WORDS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(TRICKY),
    st.builds("--{}={}".format, st.sampled_from([flag.name for flag in COMMAND.flags]), st.text(max_size=8)),
)


@given(st.lists(WORDS, max_size=8))
def test_any_words_are_read_or_refused_in_a_sentence(words: list[str]) -> None:
    try:
        values = read(*words)
    except UsageError as error:
        values = {"refused": str(error)}
    assert values == {} or "coats" in values or values["refused"]
