"""The launcher: a small process of its own that runs in a user namespace and starts containers there.

It is the first process of a process namespace, so that everything it started ends with it, whatever happens;
and it ends when the process that it works for does. `protocol` is how the two talk, `main` what it does
first, `server` what it does then. It imports nothing else of Crossply: it is to be there in no time.
"""
