"""Training and evaluation of every system: the only writer of checkpoints/."""

import media as media  # before numpy: see there
