"""The command line: files and folders in, results as files and lines out."""
