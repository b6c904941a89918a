"""Words that voice conversion says: other voices, other tones, other words than were recorded."""
