"""Claims and requirements: bound to composite resources, and kept in line with them."""
