"""The playground of the documentation: tapelint in the browser, by Pyodide (docs/playground.md).

session.py    answers the page's questions, in the browser
snapshot.py   starts all of that when the playground is built, and not in the browser
examples.py   the programs to choose from
__main__.py   builds all of it into build/playground
"""
