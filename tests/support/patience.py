"""How long tests wait for what must happen, on a machine that is busy with something else."""

from __future__ import annotations

import os

PATIENCE = float(os.environ.get("CROSSPLY_PATIENCE", "60"))
"""Seconds. The garbage collector of a real cluster looks for new kinds every half minute."""
