# Starts a sandbox that keeps running after this step, and passes its address and keys to the following steps. Called by action.yml.
set -euo pipefail
ready="$RUNNER_TEMP/esign-sandbox.json"
words=(sandbox start --ephemeral --port "$PORT" --no-save-profile --json)
if [ -n "$SEED" ]; then words+=(--seed "$SEED"); fi
nohup esign "${words[@]}" >"$ready" 2>"$RUNNER_TEMP/esign-sandbox.log" </dev/null &
pid=$!
# The line is complete when it ends with a brace.
is_ready() { grep -qs '}$' "$ready"; }
for _ in $(seq 300); do
  if is_ready; then break; fi
  if ! kill -0 "$pid" 2>/dev/null; then break; fi
  sleep 0.1
done
if ! is_ready; then
  cat "$RUNNER_TEMP/esign-sandbox.log" >&2
  exit 1
fi
echo "$pid" >"$RUNNER_TEMP/esign-sandbox.pid"
node -e '
  const { appendFileSync, readFileSync } = require("node:fs");
  const ready = JSON.parse(readFileSync(process.argv[1], "utf8"));
  const origin = new URL(ready.baseUrl).origin;
  const env = {
    ESIGN_BASE_URL: ready.baseUrl,
    ESIGN_API_KEY: ready.apiKey,
    ESIGN_SANDBOX_URL: origin,
    ESIGN_BUCKET: ready.bucket,
    AWS_ACCESS_KEY_ID: ready.accessKeyId,
    AWS_SECRET_ACCESS_KEY: ready.secretAccessKey,
    AWS_ENDPOINT_URL_S3: ready.endpoint,
    AWS_REGION: ready.region,
  };
  for (const secret of [ready.apiKey, ready.secretAccessKey]) console.log(`::add-mask::${secret}`);
  const lines = (values) => Object.entries(values).map(([name, value]) => `${name}=${value}\n`).join("");
  appendFileSync(process.env.GITHUB_ENV, lines(env));
  appendFileSync(process.env.GITHUB_OUTPUT, lines({ "base-url": ready.baseUrl, "sandbox-url": origin }));
' "$ready"
