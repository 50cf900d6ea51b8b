"""Templates that ask sprig for too much are refused at once."""

from __future__ import annotations

import pytest

from tests.support.functions.sprig import error_of, rendered

TOO_MUCH = [
    ('{{ repeat 100000000000 "x" }}', "text would be longer"),
    ('{{ indent 100000000 "x" }}', "text would be longer"),
    ('{{ repeat 1000000 "a" | replace "" (repeat 1000 "b") }}', "text would be longer"),
    ('{{ wrapWith 1 (repeat 1000000 "-") (repeat 1000 "x") }}', "text would be longer"),
    ('{{ join (repeat 1000000 "-") (until 100) }}', "text would be longer"),
    ("{{ until 100000000000 }}", "list would be longer"),
    ("{{ untilStep 0 100000000000 1 }}", "list would be longer"),
    ("{{ seq 100000000000 }}", "list would be longer"),
    ("{{ randAlphaNum 100000000000 }}", "text would be longer"),
    ("{{ randBytes 100000000000 }}", "text would be longer"),
    ('{{ splitList "" (repeat 2000000 "x") }}', "list would be longer"),
    ('{{ repeat 2000000 "aB" | snakecase }}', "text is longer"),
    ('{{ repeat 2000000 "aB" | swapcase }}', "text is longer"),
    ('{{ date (repeat 5000 "2006") now }}', "layout is longer"),
    ('{{ semverCompare (repeat 5000 "1 - 2 ") "1" }}', "improper constraint: longer"),
    ('{{ regexReplaceAll "" (repeat 10000 "a") (repeat 10000 "b") }}', "text would be longer"),
]


@pytest.mark.parametrize(("template", "message"), TOO_MUCH)
def test_a_size_beyond_all_sense_is_refused(template: str, message: str) -> None:
    assert error_of(template).startswith(message)


SHARED = "{{ $l := until 70000 }}{{ $l = list $l $l $l $l }}{{ $l = list $l $l $l $l }}"
OFTEN = '{{ $t := repeat 4000000 "x" }}{{ $t = list $t $t $t $t $t }}'
ITSELF = '{{ $d := dict "a" 1 }}{{ $_ := set $d "d" $d }}'


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (SHARED + "{{ uniq (list $l $l) }}", "a list in a list in a list"),
        (SHARED + "{{ has 1 (list $l $l) }}", "a list in a list in a list"),
        (SHARED + "{{ toJson $l }}", "a list in a list in a list"),
        (SHARED + "{{ deepCopy $l }}", "a list in a list in a list"),
        (ITSELF + "{{ deepEqual $d 1 }}", "a map in itself"),
        (ITSELF + '{{ mergeOverwrite (dict "d" (dict "d" 1)) $d | mustToJson }}', "a map in itself, merged"),
        (OFTEN + "{{ toJson $t }}", "one text often"),
        (OFTEN + "{{ cat $t $t $t $t }}", "one text often"),
    ],
)
def test_shared_values_do_not_multiply_without_bound(template: str, reason: str) -> None:
    assert error_of(template) is not None, reason


def test_large_but_sane_inputs_work() -> None:
    assert rendered('{{ repeat 1000000 "x" | len }} {{ until 100000 | uniq | len }}') == "1000000 100000"
