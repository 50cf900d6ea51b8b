"""The controllers of Operations, CronOperations and WatchOperations: what each reconciles and watches."""

from __future__ import annotations

from crossply.control.controller_context import Plane
from crossply.control.kinds import CRON_OPERATION, OPERATION
from crossply.control.operations.cron_operation_reconciler import CronOperationReconciler
from crossply.control.operations.operation_reconciler import OperationReconciler
from crossply.control.operations.watch_operations import WatchOperations
from crossply.kube.controller import Controller, Spec, by_name, controller_name


def operation_controllers(plane: Plane) -> list[Controller]:
    """The controllers that run Operations, and create those of CronOperations and WatchOperations."""
    operations, crons = OperationReconciler(plane), CronOperationReconciler(plane)
    return [
        Controller(
            plane,
            Spec(
                name=controller_name("operations", OPERATION),
                reconciles=operations.operations,
                reconcile=by_name(operations.reconcile),
            ),
        ),
        Controller(
            plane,
            Spec(
                name=controller_name("cronoperations", CRON_OPERATION),
                reconciles=crons.parents.informer,
                reconcile=by_name(crons.reconcile),
                watches=[crons.parents.watch_children()],
            ),
        ),
        WatchOperations(plane).controller,
    ]
