"""What the server counts, and the page that shows it to Prometheus."""

from crossply.apiserver.metrics.prometheus_page import Sources, metrics_page
from crossply.apiserver.metrics.request_metrics import Metrics

__all__ = ["Metrics", "Sources", "metrics_page"]
