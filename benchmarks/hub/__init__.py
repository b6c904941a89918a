"""The models of the hub that can be loaded beside ours, at full size."""
