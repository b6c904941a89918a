"""Speed and memory, measured side by side in one run; each script writes its last table."""

import earshot  # noqa: F401  (before numpy: see there)
