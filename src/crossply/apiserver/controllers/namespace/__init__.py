"""The namespace controller: default objects of each namespace, and the deletion of its content."""
