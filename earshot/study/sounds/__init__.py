"""The sounds of a listening test: read, checked, prepared."""
