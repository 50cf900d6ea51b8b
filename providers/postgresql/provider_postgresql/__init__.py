"""A provider of PostgreSQL: databases, roles, grants, schemas and extensions."""
