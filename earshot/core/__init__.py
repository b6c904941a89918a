"""What every room builds on: errors, cancellation, files, paths, the console and HTTP limits."""
