"""The ways to describe a change: JSON patch, merge patch and strategic merge patch, each a pure function."""
