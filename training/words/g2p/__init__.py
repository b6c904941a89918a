"""Grapheme-to-phoneme conversion: training, evaluation, model card."""
