"""Stands for ``python`` in a script of the shell: ``relay.py DESCRIPTOR -m MODULE ...`` asks the template of forked.py
at the other end of this descriptor to run the module on the streams, in the folder and with the variables found here,
hands on the signals that end it, and ends as it does. It starts in a fiftieth of a second, so it imports little.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from struct import unpack


def main() -> None:
    descriptor, _, module, *arguments = sys.argv[1:]
    request = {"program": ["-m", module], "arguments": arguments, "cwd": os.getcwd(), "env": dict(os.environ)}
    status, theirs = os.pipe()
    with socket.socket(fileno=int(descriptor)) as control:
        socket.send_fds(control, [json.dumps(request).encode()], [0, 1, 2, theirs])
    os.close(theirs)
    for stream in range(3):
        os.close(stream)  # so that who reads or writes them sees when the other one has gone
    (process,) = unpack("=i", os.read(status, 4))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(process, number))
    (ended,) = unpack("=i", os.read(status, 4))
    os._exit(ended if ended >= 0 else 128 - ended)


if __name__ == "__main__":
    main()
