"""The key of an installation: what its signatures are made with, and its number in marks.

At its first start an installation makes a key of its own (ES256: a root, which is forgotten, and a
leaf, which signs) and keeps it in a file that nobody else may read. The processes of an
installation share that file. A lab's own key and chain take its place.
"""

import base64
import hashlib
import os
import re
import secrets
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earshot.core.errors import InputError
from earshot.core.paths import user_folder

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey as Key

# A path, or the PEM itself, as secrets of a Space are given; processes of ours inherit them.
KEY: Final = "EARSHOT_SIGNING_KEY"
CHAIN: Final = "EARSHOT_SIGNING_CHAIN"
FILE: Final = "signing.pem"  # the key and its chain
VALID: Final = timedelta(days=3650)
MAX_KEY_BYTES: Final = 65_536  # of a file of keys
CERTIFICATE: Final = re.compile(
    rb"-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----", re.DOTALL
)
BOTH: Final = "Name both a signing key and its chain: --signing-key and --signing-chain."
NO_PAIR: Final = (
    "The signing key does not belong to the first certificate of {chain}. The chain begins with "
    "the certificate of the key, and its issuers follow."
)


@dataclass(frozen=True)
class Installation:
    """The identity of an installation. key: PKCS#8; chain: its certificate, then those of the
    issuers; both PEM."""

    key: bytes
    chain: bytes

    @property
    def number(self) -> int:
        """Return the 16 bits by which marks name the installation."""
        return int.from_bytes(hashlib.sha256(self._certificate).digest()[:2], "big")

    @property
    def serial(self) -> str:
        """Return the serial number of the certificate, in decimal."""
        from cryptography import x509  # late, for few need it

        return str(x509.load_der_x509_certificate(self._certificate).serial_number)

    @property
    def _certificate(self) -> bytes:
        """Return the certificate of the key, DER."""
        match = CERTIFICATE.search(self.chain)
        assert match
        return base64.b64decode(match[1])


def installation() -> Installation:
    """Return the identity of this installation: of the lab's key and chain where they are named,
    else of the key in the state folder, which is made where there is none.

    Raises InputError with what is wrong with a key, and OSError where none can be kept.
    """
    return _installation(os.environ.get(KEY, ""), os.environ.get(CHAIN, ""), state_folder())


def installation_number() -> int:
    """Return the 16 bits by which marks name this installation; 0 where it has no usable key."""
    try:
        return installation().number
    except (InputError, OSError):
        return 0


def state_folder() -> Path:
    """Return where the key is kept: systemd's state directory, else that of the user."""
    if named := os.environ.get("STATE_DIRECTORY"):
        return Path(named.partition(":")[0])
    return user_folder("XDG_STATE_HOME", ".local/state")


@lru_cache(maxsize=4)
def _installation(key: str, chain: str, folder: Path) -> Installation:
    if bool(key) != bool(chain):
        raise InputError(BOTH)
    if key:
        return _checked(_read(key), _read(chain, private=False), _name(chain))
    path = folder / FILE
    if not path.exists():
        _make(path)
    content = _read(str(path))
    return _checked(content, content, str(path))


def _name(source: str) -> str:
    return f"${CHAIN}" if source.startswith("-----BEGIN") else source


def _read(source: str, private: bool = True) -> bytes:
    """Read PEM, or the file of it. Raises InputError where it cannot be read, or where others can
    read what is private."""
    if source.startswith("-----BEGIN"):
        return source.encode()
    path = Path(source)
    try:
        status = path.stat()
        if private and os.name == "posix" and status.st_mode & 0o077:
            raise InputError(
                f"Others can read the signing key {path} (mode {status.st_mode & 0o777:04o}): "
                f"make it yours alone with: chmod 600 {path}"
            )
        with path.open("rb") as file:
            return file.read(MAX_KEY_BYTES)
    except OSError as error:
        raise InputError(
            f"The signing key or chain {path} cannot be read: {error.strerror}. Bring it back, "
            "or let it be read by the user that runs Earshot."
        ) from None


def _checked(key: bytes, chain: bytes, name: str) -> Installation:
    """Check that a key belongs to a chain, and can sign. Raises InputError."""
    from cryptography import x509  # late, for few need it
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        load_pem_private_key,
    )

    try:
        private = load_pem_private_key(key, None)
        certificates = x509.load_pem_x509_certificates(chain)
    except (ValueError, TypeError) as error:  # TypeError: it is encrypted
        raise InputError(
            f"The signing key or chain {name} is damaged, encrypted or no PEM. Bring back a copy; "
            "without one, delete it: the next start makes a new key, of a new installation."
        ) from error
    if not isinstance(private, ec.EllipticCurvePrivateKey) or private.curve.name != "secp256r1":
        raise InputError("The signing key must be of ES256: a private key on the curve P-256.")
    if private.public_key() != certificates[0].public_key():
        raise InputError(NO_PAIR.format(chain=name))
    pkcs8 = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return Installation(pkcs8, b"".join(each.public_bytes(Encoding.PEM) for each in certificates))


def _make(path: Path) -> None:
    """Make a key and keep it; another process may have been faster, whose key is kept then."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Whole under another name first, and readable by nobody else at any time.
    number, temporary = tempfile.mkstemp(prefix=".", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(_new())
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)


def _new() -> bytes:
    """Make a key with a chain, PEM: a leaf that may sign, by a root whose own key is forgotten."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    root, leaf = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    label = secrets.token_hex(4)
    chain = (
        _certificate(f"installation {label}", leaf, f"root {label}", root),
        _certificate(f"root {label}", root, f"root {label}", root),
    )
    key = leaf.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return key + b"".join(each.public_bytes(Encoding.PEM) for each in chain)


def _certificate(name: str, key: "Key", issuer: str, root: "Key") -> "x509.Certificate":
    """Certify a key, that of the root itself too, as C2PA asks of who signs files."""
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    def named(text: str) -> x509.Name:
        pairs = (NameOID.ORGANIZATION_NAME, "Earshot"), (NameOID.COMMON_NAME, f"Earshot {text}")
        return x509.Name([x509.NameAttribute(*pair) for pair in pairs])

    is_root, now = key is root, datetime.now(UTC)
    others = "content_commitment key_encipherment data_encipherment key_agreement encipher_only"
    usage = dict.fromkeys((*others.split(), "decipher_only"), False) | {
        "digital_signature": not is_root,
        "key_cert_sign": is_root,
        "crl_sign": is_root,
    }
    builder = (
        x509.CertificateBuilder()
        .subject_name(named(name))
        .issuer_name(named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))  # clocks differ
        .not_valid_after(now + VALID)
        .add_extension(x509.BasicConstraints(is_root, None), critical=True)
        .add_extension(x509.KeyUsage(**usage), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(root.public_key()), critical=False
        )
    )
    if not is_root:
        purposes = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION])
        builder = builder.add_extension(purposes, critical=False)
    return builder.sign(root, SHA256())
