"""Generates and checks what is made of data in the documentation: tables of operations, pages of rules."""
