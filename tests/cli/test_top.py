"""The figures of `crossply top`: read from metrics, and shown."""

from __future__ import annotations

import pytest

from crossply.cli.framework.styling import PLAIN
from crossply.cli.main import main
from crossply.cli.top.output import KindStates, document, text
from crossply.cli.top.rates import Reading, figures
from crossply.record.prometheus_text_parser import added, parse

BEFORE = """\
# TYPE controller_runtime_reconcile_total counter
controller_runtime_reconcile_total{controller="composite/apps.acme.test",result="success"} 10
controller_runtime_reconcile_total{controller="revisions/x",result="success"} 5
workqueue_depth{controller="a",name="a"} 3
function_run_function_response_total{function_name="f",grpc_code="OK",result_severity="Normal"} 8
function_run_function_response_total{function_name="f",grpc_code="OK",result_severity="Fatal"} 1
function_run_function_response_total{function_name="f",grpc_code="Unavailable",result_severity=""} 1
function_run_function_seconds_bucket{function_name="f",le="0.1"} 0
function_run_function_seconds_bucket{function_name="f",le="1"} 10
function_run_function_seconds_bucket{function_name="f",le="+Inf"} 10
function_run_function_response_cache_hits_total{function_name="f"} 3
function_run_function_response_cache_misses_total{function_name="f"} 1
"""
AFTER = (
    BEFORE.replace(
        '"composite/apps.acme.test",result="success"} 10', '"composite/apps.acme.test",result="success"} 30'
    )
    .replace('le="0.1"} 0', 'le="0.1"} 4')
    .replace('le="1"} 10', 'le="1"} 14')
    .replace('le="+Inf"} 10', 'le="+Inf"} 14')
)


def test_rates_are_of_the_interval_and_errors_of_all_time() -> None:
    shown = figures(Reading(0.0, parse(BEFORE), 1), Reading(2.0, parse(AFTER), 1))
    assert (shown.reconciles_per_second, shown.reconciles, shown.depth) == (10.0, 35, 3)
    assert shown.by_definition == {"apps.acme.test": 10.0}
    function = shown.functions[0]
    assert (function.name, function.calls, function.errors, function.cache_hits) == ("f", 10, 2, 0.75)
    assert (function.p50, function.p99) == (0.05, 0.099), "the four calls in between took up to 0.1 s"


def test_latencies_without_recent_calls_are_those_of_all_calls() -> None:
    reading = Reading(0.0, parse(BEFORE), 1)
    assert figures(reading, reading._replace(time=1.0)).functions[0].p50 == pytest.approx(0.55)


def test_a_restarted_control_plane_has_no_negative_rates() -> None:
    shown = figures(Reading(0.0, parse(AFTER), 1), Reading(1.0, parse(BEFORE), 1))
    assert shown.reconciles_per_second == 0.0


def test_replicas_are_added() -> None:
    page = parse(BEFORE)
    assert figures(Reading(0.0, page, 1), Reading(1.0, added([page, page]), 2)).depth == 6


def test_unreachable_sources_are_reported_beside_the_rest() -> None:
    kinds = [KindStates("App", "apps.acme.test", {"ready": 2, "failing": 1})]
    picture = text(kinds, None, "no pod is running; install the chart", PLAIN)
    assert picture.splitlines() == [
        "▲ no pod is running; install the chart",
        "",
        "KIND   XRS   ✓ READY   ✗ FAILING",
        "App    3     2         1",
    ]
    assert document(kinds, None, "none")["problem"] == "none"


def test_a_server_that_is_down_is_an_error(tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "kubeconfig").write_text(
        "clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]\n"
        "contexts: [{name: a, context: {cluster: a, user: a}}]\n"
        "users: [{name: a, user: {token: x}}]\ncurrent-context: a\n"
    )
    assert main(["top", "--data", str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "crossply: try: check that the API server runs" in printed.err
