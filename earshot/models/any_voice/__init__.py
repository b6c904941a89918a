"""Conversion to and from any voice: content encoder, bottlenecks, reference encoder, inverter."""

from typing import Final

# The bottleneck that lets content pass as it is. It stands here, for tabs ask for it without torch.
CONTINUOUS: Final = "continuous"
