"""Between tapelint's data and the protocol's."""
