"""One file per tab, and the components that tabs share. Layout and events only."""
