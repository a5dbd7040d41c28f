"""Files and libraries of configuration: what a program reads of them."""
