"""What Python refuses: calls that do not fit, and values that are used as what they are not."""
