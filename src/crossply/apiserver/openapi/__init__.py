"""OpenAPI v3 (one document per version) and v2 (one document).

`definitions` has the published schemas, `operations` the paths, `documents` combines them, `swagger` does the
same for v2. `pages` answers requests; documents are built on first use and cached until the registry changes.
"""
