"""Neural networks, each with the config dataclass that travels with its weights."""
