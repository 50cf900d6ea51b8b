"""What the server does by itself: it follows the store, and brings the world in order after each change.

`garbage` deletes objects whose owners are gone. `namespaces` empties and removes namespaces that are being
deleted, and `namespace_contents` gives each namespace what every namespace has. They write as any client
does, through `lifecycle` and `deletion`, so admission and watches see them. `running` starts and stops them.
"""
