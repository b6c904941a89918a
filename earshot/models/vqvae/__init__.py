"""The Transformer VQ-VAE, k-means in its place, and the codebook inverter."""
