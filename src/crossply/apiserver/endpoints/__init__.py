"""From an HTTP request to a verb: request info, negotiation, decoding, normalization, replies, errors."""
