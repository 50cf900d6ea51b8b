"""Kubernetes quantities: exact, canonical, comparable."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crossply.values import quantity
from crossply.values.quantity import QuantityError

CANONICAL = [
    ("0", "0", 0.0, "zero"),
    ("100m", "100m", 0.1, "thousandths"),
    ("0.5", "500m", 0.5, "fractions become thousandths"),
    ("1.5Gi", "1536Mi", 1610612736.0, "binary fractions move down a suffix"),
    ("1024Mi", "1Gi", 1073741824.0, "binary thousands move up"),
    ("512Ki", "512Ki", 524288.0, "canonical stays"),
    ("1000k", "1M", 1e6, "decimal thousands move up"),
    ("12e3", "12e3", 12000.0, "exponents stay exponents"),
    ("12e4", "120e3", 120000.0, "in steps of three"),
    ("0.1Ki", "102400m", 102.4, "what is not whole loses the binary suffix"),
    ("1Ki", "1Ki", 1024.0, "the first binary suffix"),
    ("-5", "-5", -5.0, "negative"),
    ("+5", "+5", 5.0, "a plus is kept when the rest is canonical"),
    ("1n", "1n", 1e-9, "the smallest unit"),
    ("0.1n", "1n", 1e-9, "below it, rounded up"),
    ("9999999Ei", "9223372036854775807", 9.223372036854775807e18, "binary ones are capped"),
    ("1E", "1E", 1e18, "E alone is a suffix"),
    ("1E2", "100", 100.0, "E with digits is an exponent"),
    (".", "0", 0.0, "Kubernetes reads a lone point as zero"),
]


@pytest.mark.parametrize(
    ("text", "canonical", "number", "reason"), CANONICAL, ids=[row[0] for row in CANONICAL]
)
def test_a_quantity_prints_canonically(text: str, canonical: str, number: float, reason: str) -> None:
    parsed = quantity.parse(text)
    assert str(parsed) == canonical, reason
    assert parsed.as_float() == pytest.approx(number, rel=1e-15), reason


REFUSED = [
    ("", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
    ("five", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
    ("1 Gi", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
    ("1K", "unable to parse quantity's suffix"),
    ("1mm", "unable to parse quantity's suffix"),
    ("1e99999999999999999999", "unable to parse quantity's suffix"),
    ("Ei", "unable to parse numeric part of quantity"),
    ("9" * 10_000, "unable to parse numeric part of quantity"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[row[0][:10] for row in REFUSED])
def test_an_invalid_quantity_is_refused_in_kubernetes_words(text: str, message: str) -> None:
    with pytest.raises(QuantityError) as caught:
        quantity.parse(text)
    assert str(caught.value) == message


def test_quantities_compare_by_amount() -> None:
    assert quantity.parse("1Gi") == quantity.parse("1024Mi")
    assert hash(quantity.parse("1k")) == hash(quantity.parse("1000"))
    assert quantity.parse("1Gi") > quantity.parse("1G") > quantity.parse("0") > quantity.parse("-1")
    assert quantity.parse("100m") <= quantity.parse("0.1")
    assert quantity.parse("1") != "1"


def test_huge_exponents_cost_nothing() -> None:
    huge, tiny = quantity.parse("1e2147483647"), quantity.parse("1e-2147483648")
    assert tiny < quantity.parse("1") < huge
    assert (huge.as_float(), str(tiny)) == (float("inf"), "1e-9")


texts = st.builds(
    lambda sign, integer, fraction, suffix: f"{sign}{integer}{fraction}{suffix}",
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 10**12),
    st.one_of(st.just(""), st.integers(0, 99999).map(lambda number: f".{number}")),
    st.sampled_from(["", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "E-2", "e1"]),
)


@given(texts)
def test_the_canonical_form_is_the_same_amount_and_stays(text: str) -> None:
    parsed = quantity.parse(text)
    assume(abs(parsed.as_float()) < 1e21)  # beyond E there is no suffix, and Kubernetes leaves it out
    reparsed = quantity.parse(str(parsed))
    assert reparsed == parsed
    assert str(reparsed) == str(parsed)


@given(texts, texts)
def test_the_order_agrees_with_floats(one: str, other: str) -> None:
    first, second = quantity.parse(one), quantity.parse(other)
    if first.as_float() < second.as_float() * (1 - 1e-12) and second.as_float() > 0:
        assert first < second
    assert (first < second) + (second < first) + (first == second) == 1


@given(st.text(alphabet="019.+-eEikmMGn", max_size=8))
def test_any_text_is_a_quantity_or_refused(text: str) -> None:
    try:
        parsed = quantity.parse(text)
    except QuantityError:
        return
    assert str(parsed)
