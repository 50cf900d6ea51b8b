"""Plain data for the templates: what a page shows, computed without I/O."""
