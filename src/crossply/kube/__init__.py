"""Talking to a Kubernetes API server, whichever it is: the embedded one or a real cluster's.

From the wire upwards: `config` finds out where the server is and who we are, `transport` sends requests and
retries where that is safe, `client` knows the verbs, `discovery` the kinds. On top of them `watch` follows
changes through every interruption, `informer` holds what was seen as encoded bytes, `workqueue` the keys to
reconcile, and `leased_shards` divides them among replicas.
"""
