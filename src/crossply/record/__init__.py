"""What is told about the work: figures for Prometheus, spans for OpenTelemetry, lines for logs.

A `Run` (`run.py`) is one reconcile; whatever happens inside finds it without being told. `metrics.py` lists
what is counted, `page.py` shows it, `logs.py` writes lines that carry the run, `otel.py` sends spans.
"""
