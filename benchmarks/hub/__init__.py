"""The models of the hub that can be loaded in place of ours, at full size."""
