"""JSON patch and strategic merge patch, as pure functions."""
