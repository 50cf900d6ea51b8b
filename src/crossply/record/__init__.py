"""Observability: metrics for Prometheus, spans for OpenTelemetry, log lines.

A `Run` (`run_context.py`) is one reconcile, available to all code that runs in it. `metrics.py` lists all
metrics, `http_pages.py` serves them, `logs.py` writes lines with the fields of the run, `spans.py` sends
spans.
"""
