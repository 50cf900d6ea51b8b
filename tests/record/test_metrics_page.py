"""Pages in Prometheus' text format are read."""

from __future__ import annotations

from crossply.record.prometheus_text_parser import parse, quantile


def test_the_text_format_is_read_with_its_escapes() -> None:
    assert (
        parse('a 1\nb{x="q\\"\\\\\\n",a="}"} 2.5 17\n# c 3\nbroken{x\nd NaN x').items()
        >= {
            ("a", ()): 1.0,
            ("b", (("a", "}"), ("x", 'q"\\\n'))): 2.5,
        }.items()
    )


def test_quantiles_are_interpolated_in_their_bucket() -> None:
    buckets = {0.1: 5.0, 1.0: 10.0, float("inf"): 10.0}
    assert quantile(buckets, 0.5) == 0.1
    assert abs(quantile(buckets, 0.75) - 0.55) < 1e-9
    assert quantile({0.1: 0.0, float("inf"): 4.0}, 0.99) == 0.1  # above every bound


def test_quantiles_of_nothing_are_none() -> None:
    assert quantile({}, 0.5) is None
    assert quantile({0.1: 0.0, float("inf"): 0.0}, 0.5) is None
