"""Figures read from a metrics page."""

from crossply.record.prometheus_text_parser import parse
from crossply.ui.metrics_source import read_figures

PAGE = """\
# TYPE function_run_function_response_total counter
function_run_function_response_total{function_name="a",grpc_code="OK",result_severity="Normal"} 9
function_run_function_response_total{function_name="a",grpc_code="OK",result_severity="Fatal"} 1
function_run_function_response_total{function_name="b \\"quoted\\"",grpc_code="Unavailable"} 2
function_run_function_seconds_bucket{function_name="a",le="0.1"} 5
function_run_function_seconds_bucket{function_name="a",le="1"} 10
function_run_function_seconds_bucket{function_name="a",le="+Inf"} 10
function_run_function_response_cache_hits_total{function_name="a"} 7
workqueue_depth{controller="x",name="x"} 3
workqueue_depth{controller="y",name="y"} 4
something else entirely
broken{x="y"} not-a-number
"""


def test_calls_errors_hits_and_the_queue_are_added_up():
    figures = read_figures(parse(PAGE))
    first, second = figures.functions
    assert (first.name, first.calls, first.errors, first.hits) == ("a", 10, 1, 7)
    assert (second.name, second.calls, second.errors) == ('b "quoted"', 2, 2)
    assert figures.queue == 7
