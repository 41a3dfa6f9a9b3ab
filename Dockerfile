# `cdc-conformance` with all that it needs to run without a network, for CI (docs/ci.md#an-image).
#
#   docker build -t cdc-conformance .
#   docker run --rm --network none -v "$PWD:/work" cdc-conformance run ticdc-canal-json --decoder mine.py:decode
#
# BASE is a Debian of release 12, with or without Python 3.11 or later; by default one image of it, whatever its tag names later.
ARG BASE=python:3.12.14-slim-bookworm@sha256:782412e85d0f0984994c290652577d4018aff08145c85b262bb63dc0c7522254
FROM ${BASE}

RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates openjdk-17-jre-headless \
        $(command -v python3 >/dev/null || echo python3 python3-venv) \
    && rm -rf /var/lib/apt/lists/*

COPY requirements/run.txt requirements/build.txt /tmp/requirements/
RUN python3 -m venv /opt/cdc-conformance \
    && /opt/cdc-conformance/bin/pip install --no-cache-dir --require-hashes -r /tmp/requirements/run.txt \
    && /opt/cdc-conformance/bin/pip install --no-cache-dir --require-hashes -r /tmp/requirements/build.txt \
    && rm -r /tmp/requirements

COPY . /tmp/source
RUN /opt/cdc-conformance/bin/pip install --no-cache-dir --no-deps --no-build-isolation /tmp/source \
    && rm -rf /tmp/source

ENV PATH=/opt/cdc-conformance/bin:$PATH \
    CDC_CONFORMANCE_CACHE=/opt/cdc-conformance/cache
RUN cdc-conformance prepare

# Without a network the container's own name has no address.
ENV SPARK_LOCAL_IP=127.0.0.1
WORKDIR /work
ENTRYPOINT ["cdc-conformance"]
CMD ["--help"]
