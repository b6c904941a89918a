"""The delay and the speed of live conversion: python -m benchmarks.live."""
