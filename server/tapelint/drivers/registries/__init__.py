"""Functions and classes that the program keeps in registries, called as the values of those are called."""
