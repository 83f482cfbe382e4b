"""Say what a wheel or a source distribution is, or what is wrong with it.

python wheels.py FILE...    its tag against its executable (ELF or Mach-O), its licences, and its files against git's
"""

from __future__ import annotations

import email
import struct
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LICENCES = ("LICENSE", "THIRD_PARTY_NOTICES.md")
MACHINES = {
    "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64": "ELF x86-64",
    "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64": "ELF arm64",
    "macosx_12_0_x86_64": "Mach-O x86-64 12.0",
    "macosx_12_0_arm64": "Mach-O arm64 12.0",
}


class Wrong(Exception):  # noqa: N818
    """The file is not what it says."""


def want(holds: bool, why: str) -> None:
    """Raise unless it holds."""
    if not holds:
        raise Wrong(why)


def executable(data: bytes) -> str:
    """Give format and machine of a program that needs nothing but its system, and the oldest macOS for it."""
    if data[:6] == b"\x7fELF\x02\x01":
        kind, machine = struct.unpack_from("<HH", data, 16)
        want(kind == 2, f"an ELF file of type {kind}, not EXEC")
        (at,), (size, number) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
        parts = {struct.unpack_from("<I", data, at + i * size)[0] for i in range(number)}
        want(not parts & {2, 3}, "it is linked dynamically")
        return "ELF " + {62: "x86-64", 183: "arm64"}.get(machine, f"machine {machine}")
    want(data[:4] == b"\xcf\xfa\xed\xfe", "neither ELF nor Mach-O, of 64 bits and little-endian")
    cpu, _, kind, number = struct.unpack_from("<IIII", data, 4)
    want(kind == 2, f"a Mach-O file of type {kind}, not EXECUTE")
    at, oldest, signed = 32, "", False
    for _ in range(number):
        command, size = struct.unpack_from("<II", data, at)
        if command == 0x32:  # LC_BUILD_VERSION
            platform, minimum = struct.unpack_from("<II", data, at + 8)
            want(platform == 1, f"for Apple's platform {platform}, not macOS")
            oldest = f"{minimum >> 16}.{minimum >> 8 & 255}"
        elif command == 0xC:  # LC_LOAD_DYLIB
            (name,) = struct.unpack_from("<I", data, at + 8)
            library = data[at + name : at + size].split(b"\0")[0].decode()
            want(library.startswith(("/usr/lib/", "/System/Library/")), f"it needs {library}")
        signed |= command == 0x1D  # LC_CODE_SIGNATURE, without which arm64 runs nothing
        at += size
    machine = {0x01000007: "x86-64", 0x0100000C: "arm64"}.get(cpu, f"cpu {cpu:#x}")
    want(signed or machine != "arm64", "an arm64 program without a signature")
    return f"Mach-O {machine} {oldest}"


def licences(metadata: bytes, texts: dict[str, bytes]) -> None:
    """Check the licences of PKG-INFO or METADATA, and their texts."""
    told = email.message_from_bytes(metadata)
    version = tuple(map(int, told["Metadata-Version"].split(".")))
    want(version >= (2, 4) and told["License-Expression"] == "Apache-2.0", "its metadata are not of PEP 639")
    want(told.get_all("License-File") == list(LICENCES), f"License-File is {told.get_all('License-File')}")
    for name in LICENCES:
        want(texts.get(name) == (ROOT / name).read_bytes(), f"{name} is not the repository's")


def wheel(path: Path) -> str:
    """Check a wheel."""
    name, version, python, abi, tag = path.name.removesuffix(".whl").split("-")
    want((name, python, abi) == ("discreet", "py3", "none") and tag in MACHINES, f"its tag is {python}-{abi}-{tag}")
    with zipfile.ZipFile(path) as archive:
        files = {entry.filename: archive.read(entry) for entry in archive.infolist()}
        mode = archive.getinfo("discreet/_bin/discreet").external_attr >> 16
    info = f"{name}-{version}.dist-info"
    said = email.message_from_bytes(files[f"{info}/WHEEL"])
    tags = [f"py3-none-{one}" for one in tag.split(".")]
    want(sorted(said.get_all("Tag", [])) == sorted(tags), f"WHEEL has the tags {said.get_all('Tag')}")
    want(said["Root-Is-Purelib"] == "false", "it says that it has no binary")
    program = executable(files["discreet/_bin/discreet"])
    want(program == MACHINES[tag], f"the program is {program}, and the tag says {MACHINES[tag]}")
    want(mode & 0o111 == 0o111, f"the program has mode {mode:o}")
    texts = {one: files.get(f"{info}/licenses/{one}", b"") for one in LICENCES}
    licences(files[f"{info}/METADATA"], texts)
    for one, text in texts.items():
        want(files.get(f"discreet/_bin/{one}") == text, f"discreet/_bin has another {one}")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "discreet"],  # noqa: S607
        cwd=ROOT / "python" / "src",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    known = {one for one in listed.split("\0") if one}
    known |= {f"discreet/_bin/{one}" for one in ("discreet", *LICENCES)}
    known |= {f"discreet/_public/{one}.csv" for one in ("trajectories", "survival")}
    known |= {f"{info}/{one}" for one in ("METADATA", "WHEEL", "RECORD", *(f"licenses/{one}" for one in LICENCES))}
    want(set(files) == known, f"files too many or too few: {sorted(set(files) ^ known)}")
    return f"{program}, {len(files)} files"


def source(path: Path) -> str:
    """Check a source distribution."""
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        want(all(one.isfile() for one in members), "not all of it are files")
        files = {one.name.partition("/")[2]: archive.extractfile(one) for one in members}
        texts = {one: got.read() for one in (*LICENCES, "PKG-INFO") if (got := files.get(one))}
    licences(texts.get("PKG-INFO", b""), texts)
    want(
        {"pyproject.toml", "hatch_build.py", "go/go.mod", "go/cmd/discreet/main.go"} <= set(files), "it cannot be built"
    )
    return f"source, {len(files)} files"


if __name__ == "__main__":
    for file in map(Path, sys.argv[1:]):
        try:
            print(f"{file.name}: {wheel(file) if file.suffix == '.whl' else source(file)}")
        except Wrong as why:
            sys.exit(f"{file.name}: {why}")
