"""HTTPS calls to admission and conversion webhooks."""
