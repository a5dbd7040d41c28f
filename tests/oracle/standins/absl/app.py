"""A program that is called with its command line."""


def run(main):
    main(["program"])
