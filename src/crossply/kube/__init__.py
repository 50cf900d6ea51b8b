"""Talking to a Kubernetes API server, whichever it is: the embedded one or a real cluster's.

From the wire upwards: `config` finds out where the server is and who we are, `transport` sends requests and
tries again where that is safe, `client` knows the verbs, `discovery` the kinds. On top of them `watch`
follows changes through every interruption, `cache` keeps what was seen as encoded bytes, `queue` turns
changes into work, and `leases` shares that work among replicas.
"""
