"""What commands share of the control plane of this machine: its data directory, lock and processes."""
