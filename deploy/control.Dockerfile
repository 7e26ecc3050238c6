# syntax=docker/dockerfile:1
# The control plane: API, publishing, ingest and webhooks, and the operator's commands (control migrate, …). The WebP
# encoder is C code. It is linked statically, so the image needs no C library. /data holds files that can be recreated, and
# preview images if no object store is set.
#
# GO_IMAGE is the build image. A tag can change; NAME@sha256:… pins its content.
ARG GO_IMAGE=golang:1.26.8-bookworm
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
COPY control control
COPY --from=web /src/control/internal/console/dist/app control/internal/console/dist/app
COPY --from=web /src/control/internal/console/dist/share control/internal/console/dist/share
COPY .ci/tools/licences .ci/tools/licences
COPY deploy/dev/program deploy/dev/program
ARG VERSION=dev
ARG COMMIT=
ARG COMMIT_DATE=
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    export GOWORK=off && deploy/dev/program control /out/control && mkdir -p /out/doc && \
    cd control && go run ../.ci/tools/licences/*.go -root .. -texts /out/doc control
RUN mkdir -p /out/data/media

FROM scratch
ARG VERSION=dev
ARG COMMIT=
ARG COMMIT_DATE=
LABEL org.opencontainers.image.title="Shortline control plane" \
      org.opencontainers.image.description="API, publishing to edges, ingest of clicks, webhooks" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}" \
      org.opencontainers.image.created="${COMMIT_DATE}" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build /out/control /usr/local/bin/control
COPY --from=build /out/doc /usr/share/doc/shortline
ENV PATH=/usr/local/bin LISTEN_ADDR=0.0.0.0:8080 OPS_ADDR=0.0.0.0:9090 DATA_DIR=/data LOG_FORMAT=json
USER 65532:65532
EXPOSE 8080 9090
VOLUME /data
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["control", "-healthy"]
ENTRYPOINT ["control"]
