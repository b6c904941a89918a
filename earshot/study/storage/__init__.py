"""Where raters, their sequences and their answers are kept."""
