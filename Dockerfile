# Holdfast in a small image: its compiled sources, its libraries, and the Node that is pinned among them.
#   docker build --tag holdfast:0.1.0 .
# Nothing in it is written to, and it runs as a user without a name: a read-only root file system is fine.

FROM node:24-bookworm-slim AS build
WORKDIR /opt/holdfast
COPY package.json package-lock.json ./
RUN npm ci
COPY scripts/pinned.sh scripts/
COPY tsconfig.json tsconfig.build.json ./
COPY src src
# Headers for compiling against Node are half as large as Node itself.
RUN npm run build && npm ci --omit=dev && rm -rf node_modules/node-linux-*/include

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title=holdfast org.opencontainers.image.licenses=Apache-2.0
WORKDIR /opt/holdfast
COPY LICENSE package.json ./
COPY bin bin
COPY --from=build /opt/holdfast/node_modules node_modules
COPY --from=build /opt/holdfast/dist dist
# The numbers of deploy/kubernetes; a name would say nothing to Kubernetes, which has to see that it is not root.
USER 10001:10001
ENV STATE_DIRECTORY=/var/lib/holdfast
EXPOSE 53/udp 53/tcp
ENTRYPOINT ["/opt/holdfast/bin/holdfast"]
