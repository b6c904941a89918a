"""What benchmarks and tests stand in for: raters, servers, replicas, a small encoder."""
