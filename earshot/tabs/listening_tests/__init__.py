"""Listening tests: take the example, make one of your own sounds, open it to raters."""

from earshot.tabs.listening_tests.tab import build, opened, routes

__all__ = ["build", "opened", "routes"]
