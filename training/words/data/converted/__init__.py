"""Words made by voice conversion: other voices, other tones, other words than were recorded."""
