"""Speed and memory, measured side by side in one run; each script writes its last table."""
