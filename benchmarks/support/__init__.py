"""Stand-ins for benchmarks and tests: raters, servers, replicas, a small encoder."""
