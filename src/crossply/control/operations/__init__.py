"""Operations: pipelines that run once, on a schedule, or whenever something changes."""
