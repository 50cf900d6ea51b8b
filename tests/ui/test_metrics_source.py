"""The dashboard reads the metrics of the control plane that started it."""

from __future__ import annotations

from typing import Any

from crossply.record.control_plane_metrics import FUNCTION_RESPONSES
from crossply.record.http_pages import metrics_on_socket
from crossply.ui.metrics_source import MetricsSource

NO_CLIENT: Any = None


async def test_the_figures_are_those_of_the_page_on_the_socket(tmp_path):
    name = "function-of-the-metrics-source"
    values = {"function_name": name, "grpc_code": "OK"}
    FUNCTION_RESPONSES.of(*(values.get(label, "") for label in FUNCTION_RESPONSES.labels)).value += 3
    path = str(tmp_path / "metrics.sock")
    async with metrics_on_socket(path):
        figures = await MetricsSource(path).figures(NO_CLIENT)
    assert figures is not None
    assert [(row.calls, row.errors) for row in figures.functions if row.name == name] == [(3, 0)]


async def test_there_are_no_figures_where_nobody_listens(tmp_path):
    assert await MetricsSource(str(tmp_path / "metrics.sock")).figures(NO_CLIENT) is None
