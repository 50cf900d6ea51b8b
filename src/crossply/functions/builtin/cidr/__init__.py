"""function-cidr: host addresses, netmasks and subnets of a prefix, written to the composite resource.

`function` is the entry point. `parameters` decodes and validates the input, `value_sources` reads what the
input refers to, `networks` calculates. `gjson_path` looks up a value in the context by a gjson path.
"""

from __future__ import annotations
