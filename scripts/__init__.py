"""Commands that build what is committed in assets/."""
