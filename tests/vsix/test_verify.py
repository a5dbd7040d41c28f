"""What a packaged extension must hold for its platform is looked for, and what is wrong is named."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from tools.vsix.build import compiled_for, version
from tools.vsix.targets import PYTHONS, TARGETS, UNIVERSAL, Target, of_this_machine
from tools.vsix.verify import engines, fault_of_check, faults_of_manifest, faults_of_native, pictures

FOLDER = "extension/bundled/native/libcst/"
COMPILED = [target for target in TARGETS.values() if target.wheels]


def module(target: Target) -> bytes:
    """As much of a compiled module as tells what it was compiled for."""
    content = bytearray(64)
    for offset, part in target.header:
        content[offset : offset + len(part)] = part
    return bytes(content)


def names(target: Target) -> list[str]:
    tag = "cp" if target.name.startswith("win32") else "cpython-"
    return [f"{FOLDER}native.{tag}{python.replace('.', '')}{target.suffixes[0]}" for python in target.pythons]


@pytest.fixture
def packed(tmp_path: Path):
    def pack(files: dict[str, bytes]) -> zipfile.ZipFile:
        with zipfile.ZipFile(tmp_path / "a.vsix", "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return zipfile.ZipFile(tmp_path / "a.vsix")

    return pack


@pytest.mark.parametrize("target", COMPILED, ids=lambda target: target.name)
def test_each_python_needs_its_module(packed, target: Target) -> None:
    files = dict.fromkeys(names(target), module(target))
    assert [*faults_of_native(packed(files), target)] == []
    missing = files.popitem()[0]
    (fault,) = faults_of_native(packed(files), target)
    assert fault.startswith(f"there is no {missing}")


@pytest.mark.parametrize(("target", "other"), [("darwin-arm64", "darwin-x64"), ("linux-x64", "linux-arm64")])
def test_a_module_of_another_processor_is_named(packed, target: str, other: str) -> None:
    wanted = TARGETS[target]
    found = [*faults_of_native(packed(dict.fromkeys(names(wanted), module(TARGETS[other]))), wanted)]
    assert found == [f"{name} is not compiled for {target}" for name in names(wanted)]


def test_modules_of_another_platform_do_not_belong_there(packed) -> None:
    (first, *_) = names(TARGETS["alpine-x64"])
    assert [*faults_of_native(packed({first: b""}), UNIVERSAL)] == [f"{first} does not belong there"]


def test_the_marketplace_is_told_the_platform_and_the_version(packed) -> None:
    identity = f'<Identity Version="{version()}" TargetPlatform="linux-x64"/>'
    space = "http://schemas.microsoft.com/developer/vsx-schema/2011"
    manifest = f'<PackageManifest xmlns="{space}"><Metadata>{identity}</Metadata></PackageManifest>'
    files = {"extension.vsixmanifest": manifest.encode()}
    assert [*faults_of_manifest(packed(files), TARGETS["linux-x64"])] == []
    assert [*faults_of_manifest(packed(files), UNIVERSAL)] == ["it says that it is for linux-x64"]
    older = {"extension.vsixmanifest": manifest.replace(version(), "9.9.9").encode()}
    assert [*faults_of_manifest(packed(older), TARGETS["linux-x64"])] == ["it says that it is version 9.9.9"]


def test_pictures_of_every_theme_are_wanted() -> None:
    assert [*pictures({"image": {"light": "a.png", "dark": "b.png"}, "altText": "c"})] == ["a.png", "b.png"]
    assert [*pictures({"markdown": "d.md"})] == ["d.md"]


def test_every_supported_python_has_libcst_on_every_platform() -> None:
    assert all(set(PYTHONS[:-1]) <= set(target.pythons) for target in COMPILED)
    assert of_this_machine() in TARGETS.values()


@pytest.mark.parametrize(
    ("printed", "has_libcst", "fault"),
    [
        ('[{"code": "TL101", "fixes": [{}], "no_fix": null}]', True, None),
        ('[{"code": "TL101", "fixes": [], "no_fix": "the edit needs libcst"}]', False, None),
        ('[{"code": "TL101", "fixes": [], "no_fix": "the edit needs libcst"}]', True, "it offers no fix"),
        ('[{"code": "TL101", "fixes": [{}], "no_fix": null}]', False, "it does not say that fixes need libcst"),
        ("[]", True, "it does not find TL101 alone"),
        ("Traceback", True, "it prints no JSON"),
    ],
)
def test_what_the_server_must_find(printed: str, has_libcst: bool, fault: str | None) -> None:
    assert fault_of_check(printed, has_libcst) == fault


def test_a_compiled_engine_is_for_the_platform_and_the_python_of_its_folder(packed) -> None:
    target = TARGETS["linux-x64"]
    engine = "extension/bundled/compiled/cpython-311/tapelint__mypyc.cpython-{}-x86_64-linux-gnu.so"
    files = {**dict.fromkeys(names(target), module(target)), engine.format(311): module(target)}
    assert engines(packed(files)) == ["cpython-311"]
    assert [*faults_of_native(packed(files), target)] == []
    other = engine.format(312)
    assert [*faults_of_native(packed({**files, other: module(target)}), target)] == [f"{other} does not belong there"]
    musl = TARGETS["alpine-x64"]  # where Python 3.10 would load a library of this name
    of_310 = engine.replace("-311", "-310").format(310)
    on_musl = {**dict.fromkeys(names(musl), module(musl)), of_310: module(target)}
    assert [*faults_of_native(packed(on_musl), musl)] == [f"{of_310} does not belong there"]
    foreign = {**files, engine.format(311): module(TARGETS["linux-arm64"])}
    assert [*faults_of_native(packed(foreign), target)] == [f"{engine.format(311)} is not compiled for linux-x64"]
    assert [*faults_of_native(packed({engine.format(311): b""}), UNIVERSAL)] == [
        f"{engine.format(311)} does not belong there"
    ]


@pytest.mark.parametrize(
    "library", ["tapelint__mypyc.cpython-311-x86_64-linux-gnu.so", "tapelint__mypyc.cp311-win_amd64.pyd"]
)
def test_a_library_names_its_python(library: str) -> None:
    assert compiled_for(library) == "cpython-311"
