"""The store of raters, their sequences and their answers."""
