"""Deletes objects whose owners are gone, as kube-controller-manager's garbage collector does."""
