"""The organiser's pages: results while a test runs, and what they can do with it."""
