"""Reconciling composite resources: reads, writes, watches and the circuit breaker."""
