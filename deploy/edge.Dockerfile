# syntax=docker/dockerfile:1
# An edge: one static binary and the certificates of public authorities. The edge writes only to /data, where it keeps its
# copy of the links and the clicks that are not yet delivered. Each edge needs a volume of its own there.
#
# GO_IMAGE is the build image. A tag can change; NAME@sha256:… pins its content.
ARG GO_IMAGE=golang:1.26.8-bookworm
FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY shared shared
COPY edge edge
COPY .ci/tools/licences .ci/tools/licences
COPY deploy/dev/program deploy/dev/program
ARG VERSION=dev
ARG COMMIT=
ARG COMMIT_DATE=
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    export GOWORK=off && deploy/dev/program edge /out/edge && mkdir -p /out/doc && \
    cd edge && go run ../.ci/tools/licences/*.go -root .. -texts /out/doc edge
RUN mkdir -p /out/data

FROM scratch
ARG VERSION=dev
ARG COMMIT=
ARG COMMIT_DATE=
LABEL org.opencontainers.image.title="Shortline edge" \
      org.opencontainers.image.description="Redirect node: links from a control plane, clicks to Kafka" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}" \
      org.opencontainers.image.created="${COMMIT_DATE}" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build /out/edge /usr/local/bin/edge
COPY --from=build /out/doc /usr/share/doc/shortline
ENV PATH=/usr/local/bin LISTEN_ADDR=0.0.0.0:8080 OPS_ADDR=0.0.0.0:9090 DATA_DIR=/data LOG_FORMAT=json
USER 65532:65532
EXPOSE 8080 9090
VOLUME /data
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["edge", "-healthy"]
ENTRYPOINT ["edge"]
