from crossply.ui.views.short_text import block, changed_lines, cut, one_line
from crossply.values.differences import MISSING


def test_a_long_text_is_truncated_with_the_number_of_missing_characters():
    assert cut("a" * 1300, 300) == "a" * 300 + "… (1,000 more characters)"


def test_a_short_text_stays_as_it_is():
    assert cut("small") == "small"


def test_a_value_is_shown_in_one_line_of_bounded_length():
    value = {"key": ["x" * 1_000_000] * 100}
    assert one_line({"a": [1, "b"]}) == '{"a":[1,"b"]}'
    assert len(one_line(value)) < 250


def test_a_field_that_is_missing_shows_nothing():
    assert (one_line(MISSING), block(MISSING)) == ("", "")


def test_a_block_is_yaml_of_bounded_length():
    assert block({"a": {"b": True}}) == "a:\n  b: true\n"
    assert len(block({"a": "x" * 1_000_000})) < 110_000


def test_of_long_texts_that_differ_the_part_that_differs_is_shown():
    before, after = changed_lines("x" * 1_000_000 + "blue", "x" * 1_000_000 + "red", 100)
    assert before.endswith("xblue (1000004 characters)")
    assert after.endswith("xred (1000003 characters)")
    assert changed_lines({"a": 1}, MISSING) == ('{"a":1}', "")
