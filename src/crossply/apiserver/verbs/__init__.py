"""The verbs: one per module, each `async verb(context, call) -> Reply`; `dispatch` calls them."""
