"""What training frameworks call, and in which order."""
