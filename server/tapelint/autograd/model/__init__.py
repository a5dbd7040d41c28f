"""The records of autograd: graph nodes, tensors, versions, views, and what one op or one write leaves behind."""
