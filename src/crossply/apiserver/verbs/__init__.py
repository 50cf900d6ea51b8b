"""What can be done to objects: one verb a file, all of the shape `async verb(world, call) -> Reply`."""
