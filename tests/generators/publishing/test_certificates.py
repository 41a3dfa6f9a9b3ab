"""A broker whose certificate is not trusted: the reason is told, which librdkafka has one text
for.
"""

import contextlib
import ipaddress
import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta

import pytest

from generators.errors import HarnessError
from generators.publishing.cluster import Cluster
from generators.publishing.topics import check_reachable

x509 = pytest.importorskip("cryptography.x509")
from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402

NOW = datetime.now(UTC)
YEAR = timedelta(days=365)


def signed(name, signer=None, *, address="127.0.0.1", since=-YEAR, until=YEAR):
    """A key and a certificate, of an authority if no `signer`, which is another pair, is given."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    issuer_key, issuer = (key, subject) if signer is None else (signer[0], signer[1].subject)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
    )
    made = (
        made.serial_number(x509.random_serial_number())
        .not_valid_before(NOW + since)
        .not_valid_after(NOW + until)
    )
    made = made.add_extension(x509.BasicConstraints(signer is None, None), critical=True)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
    return key, made.add_extension(names, critical=False).sign(issuer_key, hashes.SHA256())


def pem(folder, name, pair, with_key=False):
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    key = pair[0].private_bytes(serialization.Encoding.PEM, *form) if with_key else b""
    (folder / name).write_bytes(key + pair[1].public_bytes(serialization.Encoding.PEM))
    return str(folder / name)


@contextlib.contextmanager
def served(certificate):
    """The address of what speaks TLS with this certificate, and then closes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with (
                        contextlib.suppress(OSError),
                        context.wrap_socket(connection, server_side=True),
                    ):
                        pass

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (
            {"until": -timedelta(days=1)},
            "Its certificate: certificate has expired. Renew the broker's certificate.",
        ),
        (
            {"since": timedelta(days=1)},
            "certificate is not yet valid. Compare the clocks of this machine and of the broker.",
        ),
        (
            {"address": "10.0.0.1"},
            "certificate is not valid for '127.0.0.1'. Name the broker by a name of its certificate.",
        ),
        (
            {"signer": "other"},
            "ssl.ca.location names the authorities that are trusted, none of which issued this one.",
        ),
    ],
    ids=["expired", "not yet valid", "wrong host", "unknown authority"],
)
def test_why_a_certificate_is_not_trusted_is_told(tmp_path, changed, reason):
    authority, other = signed("authority"), signed("other")
    signer = other if changed.pop("signer", "") else authority
    certificate = pem(tmp_path, "server.pem", signed("server", signer, **changed), with_key=True)
    with served(certificate) as address:
        cluster = Cluster(
            address,
            {"security.protocol": "SSL", "ssl.ca.location": pem(tmp_path, "ca.pem", authority)},
        )
        with pytest.raises(HarnessError) as caught:
            check_reachable(cluster, timeout_s=3)
    assert str(caught.value).startswith(
        f"the broker at {address} does not let this client in within 3 s ("
    )
    assert str(caught.value).endswith(reason)
