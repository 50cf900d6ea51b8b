"""FunctionIO: what the container functions of `spec.functions` read on stdin and write on stdout.

`container_function_stdin` makes a FunctionIO of a request, `container_function_output` makes a response of
the output.
`pipeline_context_state` holds what a FunctionIO contains and the later protocol has no fields for,
`readiness_check_and_connection_detail_rules` the readiness checks and connection details of desired
resources.
"""
