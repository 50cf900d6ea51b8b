"""function-kro: resource graphs, YAML with CEL expressions in `${…}`.

`function` is the entry point: it reads the input, requires the schemas of all kinds, and asks a confined
process (`worker`). There `graph` checks a resource graph and orders it, `graph_evaluation` evaluates it for
one composite resource. `cel` has the expression language.
"""
