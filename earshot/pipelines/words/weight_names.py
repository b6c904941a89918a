"""Names in the checkpoint of g2p, which was trained before its modules were renamed.

To be removed when it is next trained: checkpoints written today have the current names.
"""

from collections.abc import Mapping
from typing import Final

# The beginning of a weight's name in the file → its name in the network.
G2P: Final[Mapping[str, str]] = {"reader.": "letter_encoder.", "speaker.": "slot_encoder."}
