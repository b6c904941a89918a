"""Training of sound search: sounds and sentences in one space."""
