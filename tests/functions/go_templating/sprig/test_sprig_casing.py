"""Sprig's functions about upper and lower case. The answers are those of the Go library."""

from __future__ import annotations

import pytest

from tests.support.functions.sprig import rendered

ANSWERS = [
    ('{{ upper "straße ŉ ᾳ ǆ" }}', "STRAßE ŉ ᾼ Ǆ", "never more than one character for one"),
    ('{{ lower "İΣ ÀÉ" }}', "iσ àé", "sigma is not at the end of a word, the dotted I loses its dot"),
    (
        '{{ title "héllo wörld it\'s ǆx a_b 1a" }}',
        "Héllo Wörld It'S ǅx A_b 1a",
        "words begin after anything that is no letter, digit or underscore",
    ),
    ('{{ untitle "Foo BAR  Éa" }}', "foo bAR  éa", "only the first letter of each word"),
    (
        '{{ swapcase "This Is éA ǅ x1Y" }}',
        "tHIS iS Éa ǆ X1y",
        "a word's first small letter becomes title case",
    ),
    ('{{ initials "First Try éa" }}', "FTÃ", "takes bytes for characters"),
    ('{{ nospace "h é" }}', "hÃ©", "takes bytes for characters once there is a blank"),
    ('{{ nospace "é" }}', "é", "takes bytes for characters once there is a blank"),
    (
        '{{ snakecase "HTTPServer2xx" }}',
        "http_server_2xx",
        "digits belong to the word before, unless letters follow",
    ),
    (
        '{{ snakecase "Bld4Floor3rd" }}',
        "bld4_floor_3rd",
        "digits belong to the word before, unless letters follow",
    ),
    (
        '{{ snakecase "Duration2m3s" }}',
        "duration_2m3s",
        "digits belong to the word before, unless letters follow",
    ),
    ('{{ snakecase "GO PATH-x" }}', "go_path_x", "digits belong to the word before, unless letters follow"),
    ('{{ kebabcase "FirstName_x" }}', "first-name-x", "hyphens instead"),
    ('{{ kebabcase "日本Go" }}', "日本-go", "hyphens instead"),
    ('{{ kebabcase "NoHTTPS" }}', "no-https", "hyphens instead"),
    ('{{ camelcase "http_server" }}', "HttpServer", "leading connectors stay"),
    ('{{ camelcase "_complex__case_" }}', "_Complex_Case_", "leading connectors stay"),
    ('{{ camelcase "GOLANG_IS GREAT" }}', "GolangIsGreat", "leading connectors stay"),
    ('{{ camelcase "--" }}', "---", "nothing but connectors: the last is doubled"),
    ('{{ camelcase "a" }}', "A", "nothing but connectors: the last is doubled"),
    ('{{ camelcase "" }}', "", "nothing but connectors: the last is doubled"),
    ('{{ snakecase "a!!B" }}', "a!!b", "punctuation needs no connector"),
    ('{{ snakecase "a..b" }}', "a..b", "punctuation needs no connector"),
    ('{{ snakecase "__a__" }}', "__a__", "punctuation needs no connector"),
    ('{{ snakecase "1a2b" }}', "1a2b", "punctuation needs no connector"),
]


@pytest.mark.parametrize(("template", "text", "reason"), ANSWERS)
def test_a_template_equals_the_output_of_go(template: str, text: str, reason: str) -> None:
    assert rendered(template) == text, reason
