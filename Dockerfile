# syntax=docker/dockerfile:1

# The build runs on the builder's own architecture and cross-compiles.
FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -X github.com/nginx-stream/tcpingress/cli.version=$VERSION" -o /out/tcpingress .

# No shell, no package manager, no root, nothing to write to.
FROM gcr.io/distroless/static-debian12:nonroot
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="tcpingress" \
      org.opencontainers.image.description="Hooks that turn TCPIngress objects into the Service, the ConfigMaps and the status of a shared nginx" \
      org.opencontainers.image.source="https://github.com/nginx-stream/tcpingress" \
      org.opencontainers.image.url="https://github.com/nginx-stream/tcpingress" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /out/tcpingress /tcpingress
COPY LICENSE /licenses/LICENSE
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/tcpingress"]
CMD ["serve"]
