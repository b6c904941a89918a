"""Results as files to take away: zip, CSV, TextGrid."""
