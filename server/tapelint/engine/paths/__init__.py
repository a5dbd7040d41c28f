"""Path conditions: what a test of an unknown value says about other tests."""
