"""What happened on a path, one file for each family of rules."""
