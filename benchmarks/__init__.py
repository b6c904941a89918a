"""Speed and memory, measured side by side in one run; each script writes its last table."""

import media as media  # before numpy: see there
