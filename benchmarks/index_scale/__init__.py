"""An index of sounds beyond memory: two engines, measured side by side."""
