"""What the tests need of Python Fire: a function that is called with its defaults."""


def Fire(component):
    return component()
