"""The server's metrics, and the /metrics page."""

from crossply.apiserver.metrics.prometheus_page import Sources, metrics_page
from crossply.apiserver.metrics.request_metrics import Metrics

__all__ = ["Metrics", "Sources", "metrics_page"]
