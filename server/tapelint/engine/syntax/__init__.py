"""What the text of a program says before it is executed."""
