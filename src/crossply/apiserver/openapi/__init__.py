"""What the server's objects are made of, for clients: OpenAPI v3 (a document a version) and v2 (all in one).

`definitions` makes schemas that are fit to be published, `operations` the paths, `documents` puts them
together, `swagger` does the same in the older form. `pages` answers requests; everything is made when it is
first asked for and kept until the registry changes.
"""
