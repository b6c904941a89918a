"""The foundation of every room: errors, cancellation, files, the console, HTTP and its limits."""
