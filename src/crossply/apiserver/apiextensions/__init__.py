"""CustomResourceDefinitions: kinds that users bring along.

A definition is read and filled in (`form`), checked (`definition_rules` and the `*_rules` beside it), turned
into a resource that the server can serve (`serving`), and looked after as long as it lives (`definitions`):
names, conditions, and the end of its instances. `webhook_conversion` takes objects to another version.
"""
