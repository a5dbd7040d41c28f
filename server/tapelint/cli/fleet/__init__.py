"""``tapelint fleet``: many repositories, checked by processes here or by a cluster, one record each."""
