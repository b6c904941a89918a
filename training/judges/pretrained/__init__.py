"""Judges of the Hugging Face hub, for those who name them: a recogniser, a speaker encoder."""
