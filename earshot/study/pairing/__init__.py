"""Which pair to ask about next, where pairs are chosen by what is known so far."""
