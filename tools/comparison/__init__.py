"""What docs/comparison.md compares: the programs of tests/corpus as files, sorted by what PyTorch does with them."""
