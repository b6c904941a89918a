"""Networks that embed sounds and texts: ours, and CLAP models of the hub."""
