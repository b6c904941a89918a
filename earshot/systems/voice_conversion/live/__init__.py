"""Live voice conversion: samples in, and samples of the same words in another voice out."""
