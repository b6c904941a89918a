"""Measures of speech: how well units tell phones apart, and what survives a conversion."""
