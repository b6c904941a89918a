"""Results as people read them: pages of HTML and PDF, figures, tables and words."""
