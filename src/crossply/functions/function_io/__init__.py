"""FunctionIO: what the container functions of `spec.functions` read on stdin and write on stdout.

`writing` makes one of a request, `reading` makes a response of what the function wrote. `carried` keeps what
a FunctionIO says and a request of the later protocol has no room for.
"""
