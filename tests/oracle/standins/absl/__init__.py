"""What the tests need of absl: flags with their defaults, and a program that is run without any words."""
