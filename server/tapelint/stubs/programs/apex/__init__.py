"""NVIDIA Apex: of the package only ``apex.amp`` is modelled."""
