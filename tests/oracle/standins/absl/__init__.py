"""What the tests need of Abseil."""
