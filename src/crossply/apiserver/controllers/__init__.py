"""The controllers that run inside the server: they watch the store and reconcile after each change.

`garbage_collector` deletes objects whose owners are gone. `namespace` empties and removes terminating
namespaces, and creates the default objects of each namespace. Controllers write like clients do, through
`registry`, so admission and watches see their writes. `startup` starts and stops them.
"""
