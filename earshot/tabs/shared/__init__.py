"""What every tab uses: events, sessions, page, theme."""
