"""Text that is spoken: grammars, phones, phonemes."""
