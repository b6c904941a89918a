"""Where speech comes from: a mark in its sound, and signed metadata beside it."""
