"""What is checked before anything is read: arguments of words, and names."""
