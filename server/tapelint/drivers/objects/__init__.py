"""What the object of a method is given that its class may leave out."""
