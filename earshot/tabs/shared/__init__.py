"""The parts that every tab uses: events, sessions, page, theme."""
