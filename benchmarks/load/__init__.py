"""A full room: many visitors and raters of the app at once."""
