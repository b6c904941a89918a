"""HTTPS in a network without a name: browsers give microphone and camera only to pages over HTTPS,
or of their own machine, and nobody else certifies a machine in a local network.

The certificate is this machine's own, for its names and addresses alone: a device that trusts it
believes it of nothing else (RFC 5280, name constraints). It is kept, so that it is trusted once,
and made anew where the machine has another address, or its time ends.
"""

import ipaddress
import os
import secrets
import socket
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from earshot.core.connections import UNSPECIFIED, machine_address
from earshot.core.errors import InputError
from earshot.core.files import replacing
from earshot.core.limits import LOCAL

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

FILE: Final = "https.pem"  # the key, which nobody else may read, and the certificate
VALID: Final = timedelta(days=800)  # Apple's devices believe none that lasts longer than 825
SPARE: Final = timedelta(days=14)  # before its end, in which another is made


class Certificate(NamedTuple):
    """A certificate, in PEM; file: it and its key; fingerprint: its SHA-256, as browsers show
    it."""

    file: Path
    content: bytes
    fingerprint: str


def own_certificate(folder: Path, host: str | None = None) -> Certificate:
    """Find the certificate of this machine, or make it. folder: keeps it; host: another name that
    the server is asked by. Raises InputError where it cannot be kept."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    file, names = folder / FILE, _names(host)
    try:
        certificate = _stored(file, names)
        if certificate is None:
            key = ec.generate_private_key(ec.SECP256R1())
            certificate = _certify(key, names)
            private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with replacing(file) as new:
                os.fchmod(new.fileno(), 0o600)
                new.write(private + certificate.public_bytes(Encoding.PEM))
    except OSError as error:
        raise InputError(
            f"The certificate for --https cannot be kept in {folder} ({error.strerror}). Give the "
            "user that runs Earshot this folder, or another with XDG_STATE_HOME."
        ) from error
    fingerprint = certificate.fingerprint(SHA256()).hex(":").upper()
    return Certificate(file, certificate.public_bytes(Encoding.PEM), fingerprint)


def _names(host: str | None) -> list["x509.GeneralName"]:
    """List what this machine is called in its network."""
    from cryptography import x509

    own = socket.gethostname()
    texts = [*LOCAL, own, f"{own.partition('.')[0]}.local", machine_address(), host]
    texts = [text for text in dict.fromkeys(texts) if text and text not in UNSPECIFIED]
    names: list[x509.GeneralName] = []
    for text in texts:
        try:
            names.append(x509.IPAddress(ipaddress.ip_address(text)))
        except ValueError:
            if text.isascii():
                names.append(x509.DNSName(text))
    return names


def _stored(file: Path, names: Sequence["x509.GeneralName"]) -> "x509.Certificate | None":
    """Read the certificate that is kept; None where it is not for these names, or soon over."""
    from cryptography import x509

    if not file.exists():
        return None
    try:
        certificate = x509.load_pem_x509_certificate(file.read_bytes())
        own = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return None
    lasts = certificate.not_valid_after_utc > datetime.now(UTC) + SPARE
    return certificate if lasts and {*names} <= {*own} else None


def _certify(
    key: "EllipticCurvePrivateKey", names: Sequence["x509.GeneralName"]
) -> "x509.Certificate":
    """Sign a key by itself: as an authority, for devices offer to trust nothing else."""
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    title = f"Earshot on {socket.gethostname()} {secrets.token_hex(2)}"[:64]
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, title)])
    uses = "content_commitment key_encipherment data_encipherment key_agreement crl_sign"
    usage = dict.fromkeys((*uses.split(), "encipher_only", "decipher_only"), False)
    usage |= {"digital_signature": True, "key_cert_sign": True}
    alone = [
        x509.IPAddress(ipaddress.ip_network(name.value)) if hasattr(name.value, "packed") else name
        for name in names
    ]
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))  # clocks differ
        .not_valid_after(now + VALID)
        .add_extension(x509.BasicConstraints(True, 0), critical=True)
        .add_extension(x509.KeyUsage(**usage), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.NameConstraints(alone, None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, SHA256())
    )
