"""Tests of Compositions: suites found, parsed and run, reconcile by reconcile, on the engine of `render`."""
