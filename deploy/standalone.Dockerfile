# syntax=docker/dockerfile:1
# Everything in one process, without other services: links in SQLite and clicks in DuckDB, both in the volume /data.
#
# GO_IMAGE is the build image. A tag can change; NAME@sha256:… pins its content.
ARG GO_IMAGE=golang:1.26.8-bookworm
# RUNTIME_IMAGE has glibc, which the program needs on arm64. It must have the same Debian release as the build image.
ARG RUNTIME_IMAGE=gcr.io/distroless/base-debian12:nonroot
# WEB_IMAGE builds the console.
ARG WEB_IMAGE=node:22.23.3-bookworm-slim
FROM ${WEB_IMAGE} AS web
WORKDIR /src/control/internal/console/web
COPY control/internal/console/web/package.json control/internal/console/web/package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY control/internal/console/web ./
COPY shared/design /src/shared/design
COPY docs/users /src/docs/users
RUN npm run build

FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY shared shared
COPY edge edge
COPY control control
# Tests of standalone use the client, so its go.mod names the module.
COPY client/go.mod client/go.mod
COPY --from=web /src/control/internal/console/dist/app control/internal/console/dist/app
COPY --from=web /src/control/internal/console/dist/share control/internal/console/dist/share
COPY .ci/tools/licences .ci/tools/licences
COPY deploy/dev/program deploy/dev/program
ARG VERSION=dev
ARG COMMIT=
ARG COMMIT_DATE=
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    export GOWORK=off && deploy/dev/program standalone /out/standalone && mkdir -p /out/doc && \
    cd control && go run ../.ci/tools/licences/*.go -root .. -texts /out/doc standalone
RUN mkdir -p /out/data

FROM ${RUNTIME_IMAGE}
ARG VERSION=dev
ARG COMMIT=
ARG COMMIT_DATE=
LABEL org.opencontainers.image.title="Shortline standalone" \
      org.opencontainers.image.description="Edge and control plane in one process" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}" \
      org.opencontainers.image.created="${COMMIT_DATE}" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build /out/standalone /usr/local/bin/standalone
COPY --from=build /out/doc /usr/share/doc/shortline
ENV LISTEN_ADDR=0.0.0.0:8080 OPS_ADDR=0.0.0.0:9090 DATA_DIR=/data LOG_FORMAT=json
USER 65532:65532
EXPOSE 8080 9090
VOLUME /data
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["standalone", "-healthy"]
ENTRYPOINT ["standalone"]
