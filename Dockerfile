# neardup in a container: the kernels are compiled while the image is built, so nothing is compiled at first use.
#
#   docker build --tag neardup .
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/data" neardup dedup corpus.jsonl -o survivors.jsonl
#
# With extras, for HTML and object stores:  docker build --build-arg EXTRAS=html,remote --tag neardup .

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

FROM python:${PYTHON}-slim
COPY --from=build /opt/neardup /opt/neardup
ENV PATH="/opt/neardup/bin:$PATH"
RUN useradd --create-home --uid 10001 neardup \
 && mkdir /data \
 && chown neardup /data
USER 10001
WORKDIR /data
RUN ["neardup", "--version"]
ENTRYPOINT ["neardup"]
CMD ["--help"]
