"""The foundation of every room: errors, cancellation, files, paths, the console and HTTP limits."""
