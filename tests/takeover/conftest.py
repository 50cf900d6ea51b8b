"""Only by `make test-takeover`: it takes a Crossplane and a Kubernetes that Go builds."""

from __future__ import annotations

import os

collect_ignore = [] if os.environ.get("CROSSPLY_TAKEOVER") else ["test_takeover.py"]
