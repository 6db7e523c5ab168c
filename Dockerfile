# `docker build --tag trellis .`, or with podman, where the health check needs its format:
# `podman build --format docker --tag trellis .`

# Any image with Python 3.11 or newer, its venv and CA certificates.
ARG PYTHON_IMAGE=docker.io/library/python:3.11-slim-bookworm

# hadolint ignore=DL3006
FROM ${PYTHON_IMAGE} AS build
# The environment has no pip; one beside it installs into it.
RUN python3 -m venv /pip && python3 -m venv --without-pip /opt/trellis
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_PYTHON=/opt/trellis/bin/python
WORKDIR /src
# requirements-tracing.lock has OpenTelemetry as well.
ARG REQUIREMENTS=requirements.lock
COPY ${REQUIREMENTS} ./
RUN /pip/bin/pip install --require-hashes --requirement ${REQUIREMENTS}
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY service service
# Apart from the libraries, so that a new version of the code is a small layer.
RUN /pip/bin/pip install --no-deps --target /app .

# hadolint ignore=DL3006
FROM ${PYTHON_IMAGE}
# Python's own images bring pip and setuptools along, which nothing here calls.
RUN rm -rf /usr/local/lib/python3.*/site-packages/* /usr/local/bin/pip*
COPY --from=build /opt/trellis /opt/trellis
# 755: whatever the umask of the checkout, every user may read.
COPY --chmod=755 models /models
COPY --from=build /app /app
COPY --chmod=755 deploy/healthcheck.py LICENSE NOTICE /app/
ENV PATH=/app/bin:/opt/trellis/bin:$PATH PYTHONPATH=/app TRELLIS_HOST=0.0.0.0 TRELLIS_PORT=8080 \
    TRELLIS_DRAIN_S=5
WORKDIR /app
# A number without a name: an orchestrator sees that it is not root. Any other will do as well.
USER 10001:10001
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["python", "healthcheck.py"]
CMD ["python", "-m", "gunicorn", "-c", "python:service.gunicorn_settings", "service.wsgi:app"]

ARG PYTHON_IMAGE
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Trellis" \
      org.opencontainers.image.description="Tags sequences over HTTP: parts of speech and named entities" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0 AND CC-BY-SA-4.0" \
      org.opencontainers.image.base.name="${PYTHON_IMAGE}"
