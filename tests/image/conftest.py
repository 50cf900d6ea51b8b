"""Only by `make test-image`: it fetches packages of Debian and of Python, and takes root and runc or crun."""

from __future__ import annotations

import os

collect_ignore = [] if os.environ.get("CROSSPLY_IMAGE") else ["test_fresh_machine.py", "test_image.py"]
