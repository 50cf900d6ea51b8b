"""Write deploy/chart/monitoring/grafana-board.json, the board of a control plane for Grafana.

Run `python tools/grafana_board.py`; with `--check` it only says whether the file is up to date.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BOARD = os.path.join(ROOT, "deploy/chart/monitoring/grafana-board.json")
_SOURCE = {"type": "prometheus", "uid": "${source}"}
_WIDTH = 24


class Panel(NamedTuple):
    """A graph, or a number where `kind` is stat."""

    title: str
    unit: str
    queries: dict[str, str]
    """Expressions by the legend of their series."""
    width: int = 8
    kind: str = "timeseries"


_SELECTED = '{controller=~"$controller"}'
_OURS = "* on (job, instance) group_left () crossply_build_info"
"""Keeps the series of our own processes of a metric that all processes have."""


def _rate(metric: str, *by: str, within: str = "5m") -> str:
    return f"sum by ({', '.join(by)}) (rate({metric}[{within}]))" if by else f"sum(rate({metric}[{within}]))"


def _percentile(histogram: str, by: str, where: str = "", within: str = "5m") -> dict[str, str]:
    rate = _rate(f"{histogram}_bucket{where}", by, "le", within=within)
    return {f"{{{{{by}}}}}": f"histogram_quantile(0.95, {rate})"}


def _by(label: str, expression: str) -> dict[str, str]:
    return {f"{{{{{label}}}}}": expression}


def _stat(title: str, unit: str, expression: str) -> Panel:
    return Panel(title, unit, {"": expression}, 4, "stat")


def _cache_hits() -> str:
    hits, misses = (
        _rate(f"function_run_function_response_cache_{end}_total", "function_name")
        for end in ("hits", "misses")
    )
    return f"{hits} / ({hits} + {misses})"


def _managed_but_not(state: str) -> str:
    every, some = (f"sum by (gvk) (crossplane_managed_resource_{name})" for name in ("exists", state))
    return f"{every} - {some}"


_RECONCILES = f"controller_runtime_reconcile_total{_SELECTED}"
_CALLS = "function_run_function_response_total"
ROWS: dict[str, tuple[Panel, ...]] = {
    "Overview": (
        _stat("Replicas", "short", "count(crossply_build_info)"),
        _stat("Objects waiting", "short", "sum(workqueue_depth)"),
        _stat("Failed reconciles a second", "ops", _rate("controller_runtime_reconcile_errors_total")),
        _stat("Function calls a second", "ops", _rate("function_run_function_request_total")),
        _stat("Memory", "bytes", f"sum(process_resident_memory_bytes {_OURS})"),
        _stat("CPU", "percentunit", f"sum(rate(process_cpu_seconds_total[5m]) {_OURS})"),
    ),
    "Reconciles": (
        Panel("Reconciles", "ops", {"{{controller}} {{result}}": _rate(_RECONCILES, "controller", "result")}),
        Panel(
            "Duration, 95th percentile",
            "s",
            _percentile("controller_runtime_reconcile_time_seconds", "controller", _SELECTED),
        ),
        Panel("Waiting", "short", _by("controller", f"sum by (controller) (workqueue_depth{_SELECTED})")),
        Panel(
            "Time in the queue, 95th percentile",
            "s",
            _percentile("workqueue_queue_duration_seconds", "controller", _SELECTED),
        ),
        Panel(
            "Longest reconcile under way",
            "s",
            _by(
                "controller", f"max by (controller) (workqueue_longest_running_processor_seconds{_SELECTED})"
            ),
        ),
        Panel(
            "Slowed down by the circuit breaker",
            "short",
            _by("controller", f"sum by (controller) (increase(circuit_breaker_opens_total{_SELECTED}[5m]))"),
        ),
    ),
    "Functions": (
        Panel(
            "Calls", "ops", {"{{function_name}} {{grpc_code}}": _rate(_CALLS, "function_name", "grpc_code")}
        ),
        Panel(
            "Duration, 95th percentile", "s", _percentile("function_run_function_seconds", "function_name")
        ),
        Panel("Calls saved by the response cache", "percentunit", _by("function_name", _cache_hits())),
    ),
    "API server and recorder": (
        Panel(
            "Requests", "ops", {"{{method}} {{code}}": _rate("rest_client_requests_total", "method", "code")}
        ),
        Panel("Latency, 95th percentile", "s", _percentile("rest_client_request_duration_seconds", "verb")),
        Panel("Pipeline runs", "ops", _by("result", _rate("crossply_runs_total", "result"))),
    ),
    "Managed resources": (
        Panel("Not ready", "short", _by("gvk", _managed_but_not("ready"))),
        Panel("Not synced", "short", _by("gvk", _managed_but_not("synced"))),
        Panel(
            "Time to readiness, 95th percentile",
            "s",
            _percentile("crossplane_managed_resource_first_time_to_readiness_seconds", "gvk", within="1h"),
        ),
    ),
}


def board() -> str:
    """The text of the board's file."""
    panels: list[dict[str, Any]] = []
    top = 0
    for title, row in ROWS.items():
        head = {"type": "row", "title": title, "collapsed": False, "gridPos": _place(0, top, _WIDTH, 1)}
        panels.append({"id": len(panels) + 1, **head})
        left, top = 0, top + 1
        for panel in row:
            height = 4 if panel.kind == "stat" else 8
            if left + panel.width > _WIDTH:
                left, top = 0, top + height
            panels.append(_panel(len(panels) + 1, panel, _place(left, top, panel.width, height)))
            left += panel.width
        top += height
    return json.dumps(_BOARD | {"panels": panels}, indent=2) + "\n"


def _place(left: int, top: int, width: int, height: int) -> dict[str, int]:
    return {"x": left, "y": top, "w": width, "h": height}


def _panel(number: int, panel: Panel, place: dict[str, int]) -> dict[str, Any]:
    targets = [
        {"refId": chr(ord("A") + index), "datasource": _SOURCE, "expr": expression, "legendFormat": legend}
        for index, (legend, expression) in enumerate(panel.queries.items())
    ]
    fields = {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []}
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "gridPos": place,
        "datasource": _SOURCE,
        "fieldConfig": fields,
        "targets": targets,
    }


def _variable(name: str, label: str, kind: str, query: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "label": label, "type": kind, "query": query, **more}


_BOARD: dict[str, Any] = {
    "uid": "crossply",
    "title": "Crossply",
    "tags": ["crossply"],
    "schemaVersion": 39,
    "refresh": "30s",
    "time": {"from": "now-3h", "to": "now"},
    "templating": {
        "list": [
            _variable("source", "Data source", "datasource", "prometheus"),
            _variable(
                "controller",
                "Controller",
                "query",
                "label_values(controller_runtime_reconcile_total, controller)",
                datasource=_SOURCE,
                includeAll=True,
                multi=True,
                refresh=2,
                current={"text": "All", "value": "$__all"},
            ),
        ]
    },
}


def main(arguments: list[str]) -> int:
    text = board()
    if "--check" in arguments:
        with open(BOARD, encoding="utf-8") as file:
            return 0 if file.read() == text else 1
    with open(BOARD, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
