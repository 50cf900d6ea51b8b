"""The API suite: one set of requests, sent to the embedded API server and to a real one."""
