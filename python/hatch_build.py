"""Build hook: the wheel carries the Go binary, the source distribution its source."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Tags of a binary that links no C library, by GOOS and GOARCH; Go 1.26 asks for macOS 12.
TAGS = {
    ("linux", "amd64"): "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    ("linux", "arm64"): "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    ("darwin", "amd64"): "macosx_12_0_x86_64",
    ("darwin", "arm64"): "macosx_12_0_arm64",
}

# What the tags promise: no C library, and any processor of the kind.
ANY = {"CGO_ENABLED": "0", "GOAMD64": "v1", "GOARM64": "v8.0"}
# What goes with the binary wherever it goes: its licence, and those of what is linked into it.
LICENCES = ("LICENSE", "THIRD_PARTY_NOTICES.md")
# Public data of discreet.datasets.
DATA = ("examples/pbc/trajectories.csv", "examples/pbc/survival.csv")


class BuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Run ``go build`` for a wheel; list the Go files for a source distribution.

    The environment variables GOOS and GOARCH choose another platform than this one.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add what this kind of package carries."""
        source = self._source()
        if self.target_name == "sdist":
            for link in [str(Path(self.root) / name) for name in LICENCES]:  # a clone has them once
                build_data["force_include"][os.path.realpath(link)] = build_data["force_include"].pop(link)
            build_data["force_include"].update(_files(source))
            return
        if shutil.which("go") is None:
            raise RuntimeError("building discreet needs Go 1.26 or newer (https://go.dev/dl); a wheel does not")
        names = json.loads(_go(source, "env", "-json", "GOOS", "GOARCH"))
        tag = TAGS.get((names["GOOS"], names["GOARCH"]))
        if tag is None:
            raise RuntimeError(
                f"discreet needs Linux or macOS on amd64 or arm64, and this is {names['GOOS']}/{names['GOARCH']}; "
                "on Windows install it in WSL"
            )
        self._dir = tempfile.mkdtemp(prefix="discreet-build-")
        binary = os.path.join(self._dir, "discreet")
        _go(source, "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "./cmd/discreet")
        build_data["force_include"][binary] = "discreet/_bin/discreet"
        for name in LICENCES:
            build_data["force_include"][os.path.realpath(Path(self.root) / name)] = f"discreet/_bin/{name}"
        for name in DATA:
            build_data["force_include"][str(source / name)] = f"discreet/_public/{Path(name).name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the build left."""
        if hasattr(self, "_dir"):
            shutil.rmtree(self._dir)

    def _source(self) -> Path:
        for place in (Path(self.root) / "go", Path(self.root).parent):
            if (place / "go.mod").is_file():
                return place
        raise RuntimeError(f"{self.root}: the Go source is neither beside the package nor in it")


def _go(source: Path, *args: str) -> str:
    done = subprocess.run(
        ["go", *args], cwd=source, env={**os.environ, **ANY}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"go {' '.join(args)} failed:\n{done.stderr}")
    return done.stdout


def _files(source: Path) -> dict[str, str]:
    """List what the command is built of, on any platform: file to its place in the archive."""
    found = {name for name in (*DATA, "go.mod", "go.sum") if (source / name).is_file()}
    for system, machine in TAGS:
        listed = subprocess.run(
            ["go", "list", "-deps", "-json=Dir,Module,GoFiles,IgnoredGoFiles,EmbedFiles,OtherFiles", "./cmd/discreet"],
            cwd=source,
            env={**os.environ, **ANY, "GOOS": system, "GOARCH": machine},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        decoder, at = json.JSONDecoder(), 0
        while at < len(listed.rstrip()):
            package, end = decoder.raw_decode(listed, at)
            at = end + 1
            if not package.get("Module", {}).get("Main"):
                continue
            below = Path(package["Dir"]).relative_to(source.resolve())
            for kind in ("GoFiles", "IgnoredGoFiles", "EmbedFiles", "OtherFiles"):
                found.update((below / name).as_posix() for name in package.get(kind) or [])
    return {str(source / name): f"go/{name}" for name in sorted(found) if not name.endswith("_test.go")}
