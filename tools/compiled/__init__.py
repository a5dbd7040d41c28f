"""The compiled engine: a copy of the sources that mypyc takes, and the build of it (docs/design/compiled.md)."""
