"""The systems, a package a task: from_pretrained → one typed call → a frozen result."""
