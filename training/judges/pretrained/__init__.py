"""Judges of the Hugging Face hub, for whoever names them: a recogniser, a speaker encoder."""
