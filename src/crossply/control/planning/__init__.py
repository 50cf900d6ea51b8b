"""What a change would do: the controllers run on a dry-run client."""
