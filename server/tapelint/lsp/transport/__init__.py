"""Messages over standard input and output."""
