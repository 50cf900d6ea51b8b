"""Who else has a say in a write, after the user may make it and before it is stored.

A write becomes `attributes`: what is asked, by whom, about which object. First come the rules of the server
itself (`namespaces`), then the mutating webhooks one after the other (`mutating`); when the object has been
checked, the policies (`policies`) and the validating webhooks, side by side (`validating`). `matching` says
whom a write concerns. The configurations are followed in the store and compiled once (`webhook_index`,
`policy_index`): a request that concerns nobody costs two look-ups.
"""
