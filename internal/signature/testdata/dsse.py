"""Checks DSSE envelopes of discreet with securesystemslib, and makes the fixture.

    pip install securesystemslib cryptography
    python dsse.py check release.dsse.json key.pub.pem
    python dsse.py make > peer.dsse.json      # with the secret key of RFC 8032, 7.1, TEST 1
"""

import hashlib
import json
import sys

from cryptography.hazmat.primitives import serialization as ser
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner, SSlibKey


def keyid(public):
    der = public.public_bytes(ser.Encoding.DER, ser.PublicFormat.SubjectPublicKeyInfo)
    return "sha256:" + hashlib.sha256(der).hexdigest()


def check(path, pem):
    public = ser.load_pem_public_key(open(pem, "rb").read())
    key = SSlibKey.from_crypto(public, keyid=keyid(public))
    envelope = Envelope.from_dict(json.load(open(path)))
    envelope.verify([key], 1)  # raises where the signature does not fit
    print("good:", envelope.payload_type, len(envelope.payload), "bytes by", key.keyid)


def make():
    private = Ed25519PrivateKey.from_private_bytes(
        bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
    public = private.public_key()
    signer = CryptoSigner(private, SSlibKey.from_crypto(public, keyid=keyid(public)))
    envelope = Envelope(b'{"schema":"discreet/release/v1"}', "application/vnd.discreet.release.v1+json", {})
    envelope.sign(signer)
    print(json.dumps(envelope.to_dict(), indent=2))


check(*sys.argv[2:]) if sys.argv[1] == "check" else make()
