"""Webhooks and policies that are asked about writes."""
