"""Wheels of other platforms: the hook's tag, and what refuses a wheel that is not what it says."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

STATIC, DYNAMIC = 1, 3  # PT_LOAD, PT_INTERP


def elf(machine: int, part: int = STATIC) -> bytes:
    """Make a header of the System V ABI, with one segment."""
    head = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    )
    return head + struct.pack("<I", part) + bytes(52)


def mach(cpu: int, macos: int = 12, signed: bool = True, library: bytes = b"/usr/lib/libSystem.B.dylib") -> bytes:
    """Make a header of Apple's mach-o/loader.h, with the commands that matter."""
    commands = [struct.pack("<6I", 0x32, 24, 1, macos << 16, 0, 0)]
    commands.append(struct.pack("<6I", 0xC, 56, 24, 0, 0, 0) + library.ljust(32, b"\0"))
    commands += [struct.pack("<4I", 0x1D, 16, 0, 0)] if signed else []
    body = b"".join(commands)
    return struct.pack("<8I", 0xFEEDFACF, cpu, 0, 2, len(commands), len(body), 0, 0) + body


AMD, ARM, MAC_AMD, MAC_ARM = elf(62), elf(183), mach(0x01000007), mach(0x0100000C)


def build(place: Path, system: str, machine: str, program: bytes) -> subprocess.CompletedProcess[str]:
    """Build a wheel with a Go that "builds" this program, and tells what it was asked."""
    (place / "program").write_bytes(program)
    (place / "program").chmod(0o755)
    go = place / "go"
    go.write_text(
        f"""#!/bin/sh -e
if [ "$1" = env ]; then printf '{{"GOOS":"%s","GOARCH":"%s"}}' "$GOOS" "$GOARCH"; exit; fi
printf '{{"cgo":"%s","amd64":"%s","arm64":"%s"}}' "$CGO_ENABLED" "$GOAMD64" "$GOARM64" >{place}/asked
while [ "$1" != -o ]; do shift; done
cp {place}/program "$2"
"""
    )
    go.chmod(0o755)
    path = f"{place}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place / "dist")],
        cwd=ROOT / "python",
        env={**os.environ, "PATH": path, "GOOS": system, "GOARCH": machine, "GOAMD64": "v4", "CGO_ENABLED": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def check(file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "python" / "wheels.py"), str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


PLATFORMS = {
    "linux/amd64": ("manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64", AMD, "ELF x86-64"),
    "linux/arm64": ("manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64", ARM, "ELF arm64"),
    "darwin/amd64": ("macosx_12_0_x86_64", MAC_AMD, "Mach-O x86-64 12.0"),
    "darwin/arm64": ("macosx_12_0_arm64", MAC_ARM, "Mach-O arm64 12.0"),
}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {}
    for platform, (_, program, _) in PLATFORMS.items():
        place = tmp_path_factory.mktemp("wheel")
        done = build(place, *platform.split("/"), program)
        assert done.returncode == 0, done.stderr
        assert json.loads((place / "asked").read_text()) == {"cgo": "0", "amd64": "v1", "arm64": "v8.0"}
        (made[platform],) = (place / "dist").iterdir()
    return made


def changed(made: Path, place: Path, old: bytes, new: bytes, added: str = "") -> str:
    """Say what is wrong with a wheel that has other bytes, or a file more."""
    with zipfile.ZipFile(made) as ours, zipfile.ZipFile(place / made.name, "w") as theirs:
        for entry in ours.infolist():
            theirs.writestr(entry, ours.read(entry).replace(old, new))
        if added:
            theirs.writestr(added, "x")
    return check(place / made.name).stderr


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_wheel_is_of_the_platform_that_is_named(wheels: dict[str, Path], platform: str) -> None:
    tag, _, told = PLATFORMS[platform]
    assert wheels[platform].name.endswith(f"-py3-none-{tag}.whl")
    checked = check(wheels[platform])
    assert f": {told}, " in checked.stdout, checked.stderr


@pytest.mark.parametrize("platform", ["windows/amd64", "linux/riscv64"])
def test_a_wheel_of_another_platform_is_refused_with_a_sentence(tmp_path: Path, platform: str) -> None:
    done = build(tmp_path, *platform.split("/"), AMD)
    assert done.returncode != 0
    assert f"needs Linux or macOS on amd64 or arm64, and this is {platform}; on Windows install it in" in done.stderr
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize(
    ("platform", "program", "why"),
    [
        ("linux/amd64", ARM, "the program is ELF arm64, and the tag says ELF x86-64"),
        ("linux/arm64", MAC_ARM, "the program is Mach-O arm64 12.0, and the tag says ELF arm64"),
        ("linux/amd64", elf(62, DYNAMIC), "linked dynamically"),
        ("darwin/arm64", mach(0x0100000C, macos=13), "is Mach-O arm64 13.0"),
        ("darwin/arm64", mach(0x0100000C, signed=False), "without a signature"),
        ("darwin/amd64", mach(0x01000007, library=b"/opt/local/lib/libz.dylib"), "needs /opt/local/lib/libz.dylib"),
        ("darwin/amd64", b"MZ" + bytes(99), "neither ELF nor Mach-O"),
    ],
)
def test_a_wheel_with_another_program_is_refused(
    wheels: dict[str, Path], tmp_path: Path, platform: str, program: bytes, why: str
) -> None:
    assert why in changed(wheels[platform], tmp_path, PLATFORMS[platform][1], program)


@pytest.mark.parametrize(
    ("old", "new", "added", "why"),
    [
        (b"", b"", "discreet/.env", "too many or too few: ['discreet/.env']"),
        (b"License-File: THIRD_PARTY_NOTICES.md\n", b"", "", "License-File is ['LICENSE']"),
        (b"Copyright 2009 The Go Authors", b"", "", "THIRD_PARTY_NOTICES.md is not the repository's"),
        (b"Tag: py3-none-musllinux_1_1_x86_64\n", b"", "", "WHEEL has the tags"),
    ],
)
def test_a_wheel_with_other_files_is_refused(
    wheels: dict[str, Path], tmp_path: Path, old: bytes, new: bytes, added: str, why: str
) -> None:
    assert changed(wheels["linux/amd64"], tmp_path, b"", b"") == ""
    assert why in changed(wheels["linux/amd64"], tmp_path, old, new, added)
