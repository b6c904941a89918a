"""Training and evaluation of every system: the only writer of checkpoints/."""

import earshot  # noqa: F401  (before numpy: see there)
