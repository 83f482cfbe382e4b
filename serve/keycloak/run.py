"""Sign in to the curator's service by a real Keycloak. `.ci/long keycloak` runs it.

    python run.py [SIGN-INS]

The distribution of Keycloak comes from Maven Central (some 150 MB; Java 17 or 21 and mvn have to be there). It is built
once and started on loopback with the realm of hospital.json, which has the client that docs/serve.md says to make, and
with a realm of the same users that the service was not told of. The service of examples/serve is started beside it.
Each person signs in so many times, each time as a browser without cookies. Every check below has to hold.
"""

from __future__ import annotations

import base64
import html
import http.cookiejar
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VERSION = "26.0.8"
PATIENCE = 1200  # seconds that Keycloak may take to build itself, and then to start, on a busy machine
JAVA = {
    "JAVA_OPTS_KC_HEAP": "-Xms256m -Xmx512m",
    # It does not run for long; and on a busy machine the set-up of its database may take more than the usual 5 minutes.
    "JAVA_OPTS_APPEND": "-XX:TieredStopAtLevel=1 -Dquarkus.transaction-manager.default-transaction-timeout=1200s",
}
LIST = "/discreet.curator.v1.CuratorService/ListDatasets"
AUDIT = "/discreet.curator.v1.StewardService/ListAudit"
NOTICES = "/discreet.curator.v1.StewardService/ListNotices"


def main() -> None:
    """Start both, and make the checks."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    with tempfile.TemporaryDirectory(prefix="discreet-keycloak-") as scratch:
        place = Path(scratch)
        home = distribution(place)
        issuer, service = (f"http://127.0.0.1:{port}" for port in ports())
        password = secrets.token_urlsafe(12)
        realms(home, service, password)
        admin = {"KC_BOOTSTRAP_ADMIN_USERNAME": "admin", "KC_BOOTSTRAP_ADMIN_PASSWORD": password}
        start = [
            home / "bin" / "kc.sh", "start", "--optimized", "--cache=local", "--import-realm",
            "--hostname-strict=false", "--http-enabled=true", "--http-host=127.0.0.1",
            f"--http-port={issuer.rsplit(':', 1)[1]}",
        ]  # fmt: skip
        with (
            (place / "keycloak.log").open("w") as log,
            subprocess.Popen(start, stdout=log, stderr=log, env={**os.environ, **JAVA, **admin}) as keycloak,
        ):
            try:
                answered(f"{issuer}/realms/hospital/.well-known/openid-configuration", keycloak, place / "keycloak.log")
                with_service(place, Checks(issuer, service, password, times))
            finally:
                keycloak.terminate()


def ports() -> list[int]:
    """Two ports that are free."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    numbers = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return numbers


def distribution(place: Path) -> Path:
    """Have Keycloak from Maven Central, built for a database in memory."""
    subprocess.run(
        [
            "mvn",
            "-q",
            "-B",
            "dependency:copy",
            f"-Dartifact=org.keycloak:keycloak-quarkus-dist:{VERSION}:zip",
            f"-DoutputDirectory={place}",
        ],
        check=True,
        cwd=place,
    )
    with zipfile.ZipFile(place / f"keycloak-quarkus-dist-{VERSION}.zip") as archive:
        archive.extractall(place)
    home = place / f"keycloak-{VERSION}"
    (home / "bin" / "kc.sh").chmod(0o755)
    subprocess.run(
        [home / "bin" / "kc.sh", "build", "--db=dev-mem"], check=True, env={**os.environ, **JAVA}, timeout=PATIENCE
    )
    return home


def realms(home: Path, service: str, password: str) -> None:
    """Write the realm, and another with the same people."""
    text = (HERE / "hospital.json").read_text().replace("ADDRESS", service).replace("PASSWORD", password)
    imports = home / "data" / "import"
    imports.mkdir(parents=True)
    (imports / "hospital-realm.json").write_text(text)
    other = json.loads(text)
    other["realm"] = "elsewhere"
    (imports / "elsewhere-realm.json").write_text(json.dumps(other))


def answered(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until an address answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(1)
    sys.exit(f"Keycloak does not answer:\n{log.read_text()[-4000:]}")


def with_service(place: Path, checks: Checks) -> None:
    """Start the service of the example with the issuer, and make the checks."""
    binary = place / "discreet"
    subprocess.run(["go", "build", "-o", binary, "./cmd/discreet"], check=True, cwd=ROOT)
    for name in ("serve", "pbc"):
        shutil.copytree(ROOT / "examples" / name, place / name, ignore=shutil.ignore_patterns("data"))
    (place / "serve" / "data").mkdir()
    config = place / "serve" / "serve.yaml"
    realm = f"issuer: {checks.issuer}/realms/hospital, audience: discreet"
    oidc = f"oidc: {{{realm}, claim: preferred_username, address: {checks.service}}}\n"
    config.write_text(config.read_text().replace("127.0.0.1:8420", checks.service.removeprefix("http://")) + oidc)
    with subprocess.Popen([binary, "serve", config], stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout is not None
            if checks.service not in service.stdout.readline():
                sys.exit("the service does not start")
            checks.make(binary, place)
        finally:
            service.terminate()
    if service.returncode != 0:
        sys.exit(f"the service ended with {service.returncode}")


class Checks:
    """What has to hold between the service and its issuer."""

    def __init__(self, issuer: str, service: str, password: str, times: int) -> None:
        """Note where both are."""
        self.issuer, self.service, self.password, self.times = issuer, service, password, times
        self.failed: list[str] = []

    def hold(self, what: str, *, holds: bool, told: object = "") -> None:
        """Note one check."""
        print(f"{'ok  ' if holds else 'FAIL'}  {what}{'' if holds else f': {told}'}", flush=True)
        if not holds:
            self.failed.append(what)

    def make(self, binary: Path, place: Path) -> None:
        """Make them all."""
        self.pages()
        self.flow()
        self.calls()
        self.asks(binary, place)
        self.keys()
        self.leaves()
        if self.failed:
            sys.exit(f"{len(self.failed)} checks failed")

    def browser(self) -> urllib.request.OpenerDirector:
        """Be a browser without cookies. Browsers trust loopback: what is `Secure` goes there over http too."""
        policy = http.cookiejar.DefaultCookiePolicy(secure_protocols=("https", "http"))
        return urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar(policy)))

    def sign_in(self, person: str, password: str) -> tuple[urllib.request.OpenerDirector, str]:
        """Go by the issuer's form, and return the page where that ends."""
        browser = self.browser()
        form = read(browser, f"{self.service}/signin/issuer")[1]
        found = re.search(r'<form[^>]*id="kc-form-login"[^>]*action="([^"]*)"', form)
        if found is None:
            return browser, form
        data = urllib.parse.urlencode({"username": person, "password": password}).encode()
        return browser, read(browser, html.unescape(found[1]), data)[1]

    def pages(self) -> None:
        """Sign in, and fail to."""
        page = read(self.browser(), f"{self.service}/")[1]
        self.hold("the page leads to the issuer", holds='href="/signin/issuer"' in page, told=page)
        for person, role in (("ann", "analyst"), ("stella", "steward"), ("arthur", "auditor")) * self.times:
            browser, page = self.sign_in(person, self.password)
            self.hold(f"{person} signs in", holds=f"signed in as {person}" in page, told=page)
            page = read(browser, f"{self.service}/")[1]
            self.hold(f"{person} is {role}", holds=f"you are {role}" in page, told=page)
        browser, page = self.sign_in("ann", "not " + self.password)
        self.hold("a wrong password stays at the issuer's", holds="kc-form-login" in page, told=page)
        page = read(browser, f"{self.service}/")[1]
        self.hold("and begins no session", holds="you are" not in page, told=page)
        browser, page = self.sign_in("mallory", self.password)
        self.hold("somebody whom people does not name is nobody", holds="identifies nobody" in page, told=page)
        page = read(browser, f"{self.service}/")[1]
        self.hold("and has no session", holds="you are" not in page, told=page)

    def flow(self) -> None:
        """Ask the issuer for what the client of docs/serve.md may not have."""
        at = f"{self.issuer}/realms/hospital/protocol/openid-connect/auth?"
        good = {
            "client_id": "discreet", "response_type": "code", "scope": "openid", "state": "s", "nonce": "n",
            "redirect_uri": f"{self.service}/signin/callback",
            "code_challenge": "x" * 43, "code_challenge_method": "S256",
        }  # fmt: skip
        status, page = read(self.browser(), at + urllib.parse.urlencode(good))
        self.hold("the issuer asks who is there", holds=status == 200 and "kc-form-login" in page, told=page)
        for what, change in (
            ("an address elsewhere", {"redirect_uri": "http://127.0.0.1:1/signin/callback"}),
            ("no PKCE", {"code_challenge": None, "code_challenge_method": None}),
            ("PKCE in the clear", {"code_challenge_method": "plain"}),
            ("a token without a code", {"response_type": "id_token"}),
        ):
            asked = {k: v for k, v in {**good, **change}.items() if v is not None}
            _, page = read(self.browser(), at + urllib.parse.urlencode(asked))
            self.hold(f"the issuer refuses {what}", holds="kc-form-login" not in page, told=page)

    def token(self, client: str, person: str, realm: str = "hospital") -> dict[str, str]:
        """Have tokens by a password."""
        data = {
            "grant_type": "password",
            "client_id": client,
            "username": person,
            "password": self.password,
            "scope": "openid",
        }
        status, text = read(
            self.browser(),
            f"{self.issuer}/realms/{realm}/protocol/openid-connect/token",
            urllib.parse.urlencode(data).encode(),
        )
        if status != 200:
            sys.exit(f"no token of {client} for {person}: {status} {text}")
        return json.loads(text)

    def status(self, token: str, call: str = LIST) -> tuple[int, str]:
        """Call with a token."""
        request = urllib.request.Request(
            self.service + call,
            b'{"dataset": "pbc"}' if call != LIST else b"{}",
            {"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode()

    def calls(self) -> None:
        """Call with tokens of several clients, realms and ages."""
        for person, role, audit, notices in (
            ("ann", "analyst", 403, 403),
            ("stella", "steward", 200, 200),
            ("arthur", "auditor", 200, 403),
        ):
            token = self.token("terminal", person)["access_token"]
            said = claims(token)
            named = (
                said["iss"] == f"{self.issuer}/realms/hospital"
                and "discreet" in said["aud"]
                and said["preferred_username"] == person
            )
            self.hold(f"the issuer's access token names issuer, audience and {person}", holds=named, told=said)
            status, text = self.status(token)
            self.hold(
                f"calls with it are {person}'s, {role}", holds=status == 200 and f'"role":"{role}"' in text, told=text
            )
            for call, want in ((AUDIT, audit), (NOTICES, notices)):
                status, text = self.status(token, call)
                self.hold(f"{call.rsplit('/', 1)[1]} by {person}: {want}", holds=status == want, told=(status, text))
        for what, token in (
            ("an access token of another client", self.token("shop", "ann")["access_token"]),
            ("an identity token of another client", self.token("shop", "ann")["id_token"]),
            ("a refresh token", self.token("terminal", "ann")["refresh_token"]),
            ("a token of another realm of the same issuer", self.token("terminal", "ann", "elsewhere")["access_token"]),
            ("a token of somebody whom people does not name", self.token("terminal", "mallory")["access_token"]),
        ):
            self.hold(f"{what}: 401", holds=self.status(token)[0] == 401, told=self.status(token))
        brief = self.token("brief", "ann")["access_token"]
        self.hold("a token of five seconds is good", holds=self.status(brief)[0] == 200, told=self.status(brief))
        time.sleep(6)
        self.hold("and 401 after six", holds=self.status(brief)[0] == 401, told=self.status(brief))

    def asks(self, binary: Path, place: Path) -> None:
        """Ask with a token of the issuer, and verify the release."""
        release = place / "release.json"
        ask = [
            binary,
            "remote",
            "ask",
            "pbc",
            place / "serve" / "question.yaml",
            "--server",
            self.service,
            "-o",
            release,
        ]
        environment = {**os.environ, "DISCREET_TOKEN": self.token("terminal", "ann")["access_token"]}
        done = subprocess.run(ask, check=False, capture_output=True, text=True, env=environment)
        self.hold("ann asks with the issuer's token", holds=done.returncode == 0, told=done.stderr)
        done = subprocess.run([binary, "verify", release], check=False, capture_output=True, text=True)
        self.hold("the release verifies", holds=done.returncode == 0, told=done.stdout + done.stderr)

    def keys(self) -> None:
        """Have the issuer sign with a new key."""
        before = self.token("terminal", "ann")["access_token"]
        self.administer("POST", "components", {
            "name": "newer", "providerId": "rsa-generated", "providerType": "org.keycloak.keys.KeyProvider",
            "config": {"priority": ["1000"], "enabled": ["true"], "active": ["true"], "keySize": ["2048"]},
        })  # fmt: skip
        after = self.token("terminal", "ann")["access_token"]
        self.hold("the issuer signs with a new key", holds=before.split(".")[0] != after.split(".")[0])
        self.hold("a token of the new key is good at once", holds=self.status(after)[0] == 200, told=self.status(after))
        self.hold(
            "one of the key before too, while the issuer lists it",
            holds=self.status(before)[0] == 200,
            told=self.status(before),
        )

    def leaves(self) -> None:
        """Close an account."""
        users = json.loads(self.administer("GET", "users?username=ann&exact=true"))
        self.administer("PUT", f"users/{users[0]['id']}", {**users[0], "enabled": False})
        browser, page = self.sign_in("ann", self.password)
        self.hold("a closed account signs nobody in", holds="signed in as" not in page, told=page)
        page = read(browser, f"{self.service}/")[1]
        self.hold("and begins no session", holds="you are" not in page, told=page)

    def administer(self, method: str, path: str, body: object = None) -> str:
        """Change the realm as the issuer's administrator."""
        data = urllib.parse.urlencode(
            {"grant_type": "password", "client_id": "admin-cli", "username": "admin", "password": self.password}
        ).encode()
        _, text = read(self.browser(), f"{self.issuer}/realms/master/protocol/openid-connect/token", data)
        headers = {"Authorization": f"Bearer {json.loads(text)['access_token']}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.issuer}/admin/realms/hospital/{path}", content, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode()


def claims(token: str) -> dict[str, str]:
    """Read what a token says."""
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def read(browser: urllib.request.OpenerDirector, address: str, data: bytes | None = None) -> tuple[int, str]:
    """Load a page, whatever its status."""
    try:
        with browser.open(address, data, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


if __name__ == "__main__":
    main()
