"""Lip to speech: prepare → train (lip readers, voice and face encoders, vocoder) → evaluate."""
