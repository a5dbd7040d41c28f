"""What a packaged extension must hold for its platform is looked for, and what is wrong is named."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from tools.vsix.build import compiled_for, version
from tools.vsix.targets import TARGETS, UNIVERSAL, Target, of_this_machine
from tools.vsix.verify import engines, fault_of_check, faults_of_manifest, faults_of_native, pictures


def module(target: Target) -> bytes:
    """As much of a compiled module as tells what it was compiled for."""
    content = bytearray(64)
    for offset, part in target.header:
        content[offset : offset + len(part)] = part
    return bytes(content)


@pytest.fixture
def packed(tmp_path: Path):
    def pack(files: dict[str, bytes]) -> zipfile.ZipFile:
        with zipfile.ZipFile(tmp_path / "a.vsix", "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return zipfile.ZipFile(tmp_path / "a.vsix")

    return pack


def test_a_compiled_library_does_not_belong_there(packed) -> None:
    """All that the extension carries runs on every platform, but for engines."""
    name = "extension/bundled/libs/yaml/_yaml.cpython-311-x86_64-linux-gnu.so"
    for target in (UNIVERSAL, TARGETS["linux-x64"]):
        assert [*faults_of_native(packed({name: module(target)}), target)] == [f"{name} does not belong there"]


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


def test_this_machine_has_its_extension() -> None:
    assert of_this_machine() in TARGETS.values()


@pytest.mark.parametrize(
    ("printed", "fault"),
    [
        ('[{"code": "TL101", "fixes": [{}], "no_fix": null}]', None),
        ('[{"code": "TL101", "fixes": [], "no_fix": "why"}]', "it offers no fix"),
        ("[]", "it does not find TL101 alone"),
        ("Traceback", "it prints no JSON"),
    ],
)
def test_what_the_server_must_find(printed: str, fault: str | None) -> None:
    assert fault_of_check(printed) == fault


def test_a_compiled_engine_is_for_the_platform_and_the_python_of_its_folder(packed) -> None:
    target = TARGETS["linux-x64"]
    engine = "extension/bundled/compiled/cpython-311/tapelint__mypyc.cpython-{}-x86_64-linux-gnu.so"
    files = {engine.format(311): module(target)}
    assert engines(packed(files)) == ["cpython-311"]
    assert [*faults_of_native(packed(files), target)] == []
    other = engine.format(312)
    assert [*faults_of_native(packed({**files, other: module(target)}), target)] == [f"{other} does not belong there"]
    musl = TARGETS["alpine-x64"]  # where Python 3.10 would load a library of this name
    of_310 = engine.replace("-311", "-310").format(310)
    on_musl = {of_310: module(target)}
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
