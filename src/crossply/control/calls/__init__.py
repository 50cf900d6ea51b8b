"""Calling the functions of pipelines, and not calling them where the answer is known."""
