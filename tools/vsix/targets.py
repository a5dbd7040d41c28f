"""The platforms that an extension with a compiled engine is built for, and how what is compiled for each looks."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass

PYTHONS = tuple(f"3.{minor}" for minor in range(10, 16))


@dataclass(frozen=True)
class Target:
    """One extension. ``name`` is the marketplace's word for the platform. The name of each of its compiled modules ends
    with ``suffix``; ``header`` is how it begins: bytes at some offsets.
    """

    name: str
    suffix: str = ""
    header: tuple[tuple[int, bytes], ...] = ()

    @property
    def file(self) -> str:
        """The name of the extension's file."""
        return f"tapelint-{self.name}.vsix"


def _elf(machine: int) -> tuple[tuple[int, bytes], ...]:
    """An ELF file of 64 bits; the processor stands at 18."""
    return (0, b"\x7fELF\x02"), (18, machine.to_bytes(2, "little"))


def _mach(machine: int) -> tuple[tuple[int, bytes], ...]:
    """A Mach-O file of 64 bits."""
    return ((0, b"\xcf\xfa\xed\xfe" + machine.to_bytes(4, "little")),)


_X64, _ARM64 = _elf(62), _elf(183)
_WINDOWS = ((0, b"MZ"),)

UNIVERSAL = Target("universal")
"""For every platform: the server runs from its sources."""

TARGETS = {
    target.name: target
    for target in (
        Target("linux-x64", "-x86_64-linux-gnu.so", _X64),
        Target("linux-arm64", "-aarch64-linux-gnu.so", _ARM64),
        Target("alpine-x64", "-x86_64-linux-musl.so", _X64),
        Target("alpine-arm64", "-aarch64-linux-musl.so", _ARM64),
        Target("darwin-x64", "-darwin.so", _mach(0x01000007)),
        Target("darwin-arm64", "-darwin.so", _mach(0x0100000C)),
        Target("win32-x64", "-win_amd64.pyd", _WINDOWS),
        Target("win32-arm64", "-win_arm64.pyd", _WINDOWS),
        UNIVERSAL,
    )
}


def of_this_machine() -> Target:
    """The target that the machine which runs this would install."""
    system = {"linux": "linux" if platform.libc_ver()[0] == "glibc" else "alpine"}.get(sys.platform, sys.platform)
    processor = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower())
    return TARGETS.get(f"{system}-{processor or platform.machine().lower()}", UNIVERSAL)
