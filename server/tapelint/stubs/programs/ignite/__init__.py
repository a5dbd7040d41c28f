"""PyTorch Ignite: of the package only ``ignite.engine`` is modelled."""
