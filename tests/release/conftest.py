"""The programs in tools/ import what they share as `distribution`; so do tests of it."""

from __future__ import annotations

import sys

from tests.support.paths import ROOT

sys.path.append(str(ROOT / "tools"))
