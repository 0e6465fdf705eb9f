# A container image for the sandbox, from the npm package. A test runs its command; the image was never built.
#   npm pack --pack-destination dist/container
#   docker build --tag esign-sandbox --file scripts/packaging/sandbox.Dockerfile dist/container
#   docker run --rm --publish 127.0.0.1:4010:4010 --publish 127.0.0.1:5010:5010 esign-sandbox
FROM node:22-slim
COPY esign-cli-*.tgz /tmp/
RUN npm install --global /tmp/esign-cli-*.tgz && rm /tmp/esign-cli-*.tgz && install -d -o node -g node /data
USER node
VOLUME /data
EXPOSE 4010 5010
ENTRYPOINT ["esign"]
CMD ["sandbox", "start", "--host", "0.0.0.0", "--data", "/data", "--no-save-profile", "--json"]
