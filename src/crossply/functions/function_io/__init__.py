"""FunctionIO: what the container functions of `spec.functions` read on stdin and write on stdout.

`encoder` makes a FunctionIO of a request, `decoder` makes a response of the output. `pipeline_state` holds
what a FunctionIO contains and the later protocol has no fields for, `resource_rules` the readiness checks
and connection details of desired resources.
"""
