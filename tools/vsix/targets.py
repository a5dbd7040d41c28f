"""The platforms that an extension is built for, and what differs between them: libcst, the one compiled library."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass

PYTHONS = tuple(f"3.{minor}" for minor in range(10, 16))
LIBCST = "1.9.0"
LIBCST_OF_INTEL_MACS = "1.8.6"
"""The last with wheels for macOS on x86-64; it has none for Python 3.15."""


@dataclass(frozen=True)
class Target:
    """One extension. ``name`` is the marketplace's word for the platform, ``wheels`` are pip's for that of libcst's
    wheels, newest first; without any, the extension carries no libcst. The name of each of its compiled modules ends
    with one of ``suffixes``; ``header`` is how it begins: bytes at some offsets.
    """

    name: str
    wheels: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    header: tuple[tuple[int, bytes], ...] = ()
    libcst: str = LIBCST
    pythons: tuple[str, ...] = PYTHONS

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
_MAC_X64, _MAC_ARM64 = _mach(0x01000007), _mach(0x0100000C)
_WINDOWS = ((0, b"MZ"),)
_GNU_X64, _GNU_ARM64 = "-x86_64-linux-gnu.so", "-aarch64-linux-gnu.so"
_MUSL_X64, _MUSL_ARM64 = "-x86_64-linux-musl.so", "-aarch64-linux-musl.so"
_INTEL_MACS = tuple(f"macosx_10_{minor}_x86_64" for minor in (15, 13, 12))

UNIVERSAL = Target("universal")
"""For all other platforms: everything but the fixes that need libcst."""

TARGETS = {
    target.name: target
    for target in (
        Target("linux-x64", ("manylinux_2_28_x86_64",), (_GNU_X64,), _X64),
        Target("linux-arm64", ("manylinux_2_28_aarch64",), (_GNU_ARM64,), _ARM64),
        # Python 3.10 calls musl gnu.
        Target("alpine-x64", ("musllinux_1_2_x86_64",), (_MUSL_X64, _GNU_X64), _X64),
        Target("alpine-arm64", ("musllinux_1_2_aarch64",), (_MUSL_ARM64, _GNU_ARM64), _ARM64),
        Target("darwin-x64", _INTEL_MACS, ("-darwin.so",), _MAC_X64, LIBCST_OF_INTEL_MACS, PYTHONS[:-1]),
        Target("darwin-arm64", ("macosx_11_0_arm64",), ("-darwin.so",), _MAC_ARM64),
        Target("win32-x64", ("win_amd64",), ("-win_amd64.pyd",), _WINDOWS),
        Target("win32-arm64", ("win_arm64",), ("-win_arm64.pyd",), _WINDOWS),
        UNIVERSAL,
    )
}


def of_this_machine() -> Target:
    """The target that the machine which runs this would install."""
    system = {"linux": "linux" if platform.libc_ver()[0] == "glibc" else "alpine"}.get(sys.platform, sys.platform)
    processor = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower())
    return TARGETS.get(f"{system}-{processor or platform.machine().lower()}", UNIVERSAL)
