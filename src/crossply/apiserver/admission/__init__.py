"""Admission: what may change or refuse a write after authorization and before it is stored.

A write becomes `attributes`. `chain` calls, in order: the namespace checks (`namespace_lifecycle`), the
mutating webhooks one after the other, and, once the object is validated, the policies and the validating
webhooks in parallel. `matching` decides which configurations match a write. Configurations are watched in the
store and compiled once (`webhook_index`, `policy_index`): a request that matches none costs two look-ups.
"""
