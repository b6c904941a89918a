"""Raters who are made up, to rehearse a test with and to try our statistics on."""
