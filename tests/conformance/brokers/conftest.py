"""What the tests of brokers and registries share: certificates."""

import subprocess

import pytest


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    """A folder with ca.pem, and server and client: .pem, .key, and -all.pem with both."""
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "rsa:2048", "-nodes", "-keyout")
    openssl("req", "-x509", "-days", "2", *key, "ca.key", "-out", "ca.pem", "-subj", "/CN=ca")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n", "ascii")
    for name in ("server", "client"):
        openssl("req", *key, f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names")
        openssl("x509", "-req", "-in", f"{name}.csr", *signed, "-out", f"{name}.pem")
        (folder / f"{name}-all.pem").write_text((folder / f"{name}.key").read_text() + (folder / f"{name}.pem").read_text())
    return folder
