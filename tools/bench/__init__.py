"""Time and memory of tapelint."""
