"""The web pages of raters and organisers."""
