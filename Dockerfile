# headwater as one static binary, for a user without rights.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags=-s -o /headwater ./cmd/headwater \
 && mkdir -p /data && chown 65532:65532 /data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /headwater /headwater
COPY --from=build --chown=65532:65532 /data /data
VOLUME /data
EXPOSE 8080 8090
ENTRYPOINT ["/headwater"]
CMD ["serve", "--listen", "0.0.0.0:8080", "--data", "/data"]
