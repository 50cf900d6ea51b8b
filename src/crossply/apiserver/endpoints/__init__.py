"""From an HTTP request to a verb: request info, content negotiation, decoding, normalization, replies, errors."""
