"""Admission: webhooks and policies."""
