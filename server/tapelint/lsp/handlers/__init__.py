"""One file for each request of the protocol."""
