"""What the tests need of Munch: items that are attributes."""


class Munch(dict):
    def __setattr__(self, name, value):
        self[name] = value

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def munchify(value):
    if isinstance(value, dict):
        return Munch((name, munchify(item)) for name, item in value.items())
    return [munchify(item) for item in value] if isinstance(value, list) else value
