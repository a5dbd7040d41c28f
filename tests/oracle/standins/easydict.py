"""What the tests need of EasyDict: items that are attributes, in nested dictionaries too."""


class EasyDict(dict):
    def __init__(self, items=None, **more):
        super().__init__()
        for name, value in {**(items or {}), **more}.items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        if isinstance(value, dict) and not isinstance(value, EasyDict):
            value = EasyDict(value)
        self[name] = value

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None
