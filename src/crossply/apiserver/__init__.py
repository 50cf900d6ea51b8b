"""The embedded Kubernetes API: a real API server on SQLite.

A request goes `server` (HTTP) → `requests` (what is asked) → `auth` (who asks, and may they) → `verbs` (do
it) → `storage` (durable) → `watching` (tell everybody). Kinds come from `resources`: built-in ones from a
table, custom ones from their CustomResourceDefinitions.
"""
