"""What the server counts, and the page that shows it to Prometheus."""

from crossply.apiserver.metrics.counting import Metrics
from crossply.apiserver.metrics.page import Sources, metrics_page

__all__ = ["Metrics", "Sources", "metrics_page"]
