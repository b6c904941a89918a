"""Voice conversion: prepare → train (units, vocoder, inverter) → evaluate."""
