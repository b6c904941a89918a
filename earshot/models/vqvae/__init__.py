"""The Transformer VQ-VAE and its codebook inverter."""
