"""What the tests need of tyro: an object of a class with its defaults, or with switches from a list of words."""


def cli(made, args=None):
    return made(**{word.lstrip("-").replace("-", "_"): True for word in args or ()})
