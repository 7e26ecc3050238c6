# One process, nothing beside it: links in SQLite, clicks in DuckDB, all in the volume /data.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY . .
ARG VERSION=dev
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    make build-standalone VERSION="$VERSION" && mkdir -p /data && chown 65532:65532 /data

# DuckDB needs the C++ library at run time.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /src/bin/standalone /usr/local/bin/standalone
COPY --from=build --chown=65532:65532 /data /data
ENV LISTEN_ADDR=0.0.0.0:8080 OPS_ADDR=0.0.0.0:9090 DATA_DIR=/data LOG_FORMAT=json
EXPOSE 8080 9090
VOLUME /data
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["standalone", "-healthy"]
ENTRYPOINT ["standalone"]
