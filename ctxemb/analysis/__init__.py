"""Arrays in, numbers out: similarity of vectors, separation of senses, the bag-of-context baseline."""
