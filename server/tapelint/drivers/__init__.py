"""Where execution starts: the script, notebook cells, and functions that the file itself does not call."""
