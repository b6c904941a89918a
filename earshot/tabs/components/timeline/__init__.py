"""Timeline: lanes on one time axis with one playhead."""
