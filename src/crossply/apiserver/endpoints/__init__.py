"""From an HTTP request to a call of a verb: request info, negotiation, decoding, replies, errors."""
