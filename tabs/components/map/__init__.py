"""Map: points in a plane that can be heard."""
