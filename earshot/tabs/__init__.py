"""The tabs of the page: a package each, layout and events only, and what they share."""
