"""Abseil's ``app``: a program is called with its command line."""


def run(main, argv=None, flags_parser=None):
    main(["program"] if argv is None else argv)
