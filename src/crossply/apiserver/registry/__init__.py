"""Resources and their objects: create, update and delete by the strategy of a kind, whatever stores them."""
