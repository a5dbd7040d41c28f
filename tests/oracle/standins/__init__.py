"""Stand-ins for frameworks that are not installed: what a block imports of them, reduced to what autograd sees.

Each was written from the framework's own source and compared with it where it could be installed. They are on the
path of the blocks that real PyTorch runs (``sandbox``), never on the analyser's: it knows these names as data only.
"""
