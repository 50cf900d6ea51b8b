"""FunctionIO: what the container functions of `spec.functions` read on stdin and write on stdout.

`container_function_stdin` makes a FunctionIO of a request, `output_decoder` makes a response of the output.
`pipeline_state` holds what a FunctionIO contains and the later protocol has no fields for,
`readiness_and_connection_details` the readiness checks and connection details of desired resources.
"""
