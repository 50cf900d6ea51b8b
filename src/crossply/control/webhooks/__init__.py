"""The admission webhooks that the control plane serves, and their certificates."""
