"""Listening tests with human raters: designs, storage, analysis and the rater's page."""
