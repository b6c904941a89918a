"""Sound search: sounds and sentences in one space, and how well one finds the other."""
