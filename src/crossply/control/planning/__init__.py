"""What a change would do: the very controllers at work in a world that is only imagined."""
