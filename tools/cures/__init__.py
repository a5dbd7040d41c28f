"""Whether cures cure: the preferred fix of the error that PyTorch raises, applied and run under PyTorch."""
