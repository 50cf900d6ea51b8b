"""The recorder: every pipeline run as it was, to look at, compare and replay."""
