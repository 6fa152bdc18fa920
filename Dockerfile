# neardup in a container: the kernels are compiled while the image is built, so nothing is compiled at first use.
#
#   docker build --tag neardup .
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/data" neardup dedup corpus.jsonl -o survivors.jsonl
#
# With extras, for HTML and object stores:  docker build --build-arg EXTRAS=html,remote --tag neardup .
# The service, with the extras that it needs:  docker build --target service --tag neardup-service .
# docs/deployment.md says how to run it.

ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
# Compilers of any version do; the image that is used has none.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir dist .
ARG EXTRAS=""
RUN python -m venv /opt/neardup \
 && wheel="$(find dist -name 'neardup-*.whl' ! -name '*-none-any.whl')" \
 && /opt/neardup/bin/pip install --no-cache-dir "${wheel}${EXTRAS:+[${EXTRAS}]}" \
 && /opt/neardup/bin/python -c 'import importlib.util as u; assert u.find_spec("numba") is None, "kernels are not precompiled"'

FROM build AS build-service
RUN wheel="$(find dist -name 'neardup-*.whl' ! -name '*-none-any.whl')" \
 && /opt/neardup/bin/pip install --no-cache-dir "${wheel}[server,postgres]"

FROM python:${PYTHON}-slim AS base
ENV PATH="/opt/neardup/bin:$PATH" PYTHONDONTWRITEBYTECODE=1
RUN useradd --create-home --uid 10001 neardup
ENTRYPOINT ["neardup"]

# Stores are in one volume, and replicas of stores in PostgreSQL in another. All else may be read-only.
FROM base AS service
COPY --from=build-service /opt/neardup /opt/neardup
COPY deploy/health.py /opt/neardup/health.py
ENV NEARDUP_CACHE_DIR=/var/cache/neardup
RUN mkdir /var/lib/neardup "$NEARDUP_CACHE_DIR" \
 && chown neardup:neardup /var/lib/neardup "$NEARDUP_CACHE_DIR"
USER 10001:10001
WORKDIR /var/lib/neardup
VOLUME ["/var/lib/neardup", "/var/cache/neardup"]
RUN ["neardup", "serve", "--help"]
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["python", "/opt/neardup/health.py"]
CMD ["serve", "--store", "seen.store", "--host", "0.0.0.0", "--behind-proxy", "--tokens", "/run/secrets/tokens"]

FROM base
COPY --from=build /opt/neardup /opt/neardup
RUN mkdir /data \
 && chown neardup /data
USER 10001
WORKDIR /data
RUN ["neardup", "--version"]
CMD ["--help"]
