"""The embedded Kubernetes API: an API server on SQLite.

A request passes `http.server` → `auth` → `verbs.dispatch` → `verbs` → `registry` (with `admission`) →
`storage`; its event then reaches the watches. `served_resources` has the resources: built-in
ones come from a table (`builtin`), custom ones from their CustomResourceDefinitions (`apiextensions`).
"""
