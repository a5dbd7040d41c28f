"""``app.run``."""


def run(main):
    main(["program"])
