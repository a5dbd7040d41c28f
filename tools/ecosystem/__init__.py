"""What tapelint says of whole repositories, and how much of them it has seen."""
