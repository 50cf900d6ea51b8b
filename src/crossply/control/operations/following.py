"""Having the controllers of Operations look at what there is."""

from __future__ import annotations

from crossply.control.controllers import Follow
from crossply.control.operations.cron import CronOperationController
from crossply.control.operations.operation import OperationController
from crossply.control.operations.watch import WatchOperationController
from crossply.control.plane import Plane


def follow_operations(plane: Plane, follow: Follow) -> None:
    """Run Operations, and make those of CronOperations and WatchOperations."""
    operations = OperationController(plane)
    follow(operations, operations.operations)
    cron = CronOperationController(plane)
    cron.maker.wake_by_children(follow(cron, cron.maker.makers))
    watch = WatchOperationController(plane)
    watch.wake = follow(watch, watch.maker.makers)
    watch.maker.wake_by_children(watch.wake)
