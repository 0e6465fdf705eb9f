import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ensureBuilt, ensureInstalled, step } from './ensure.js';
import { runVitest } from './vitest.js';

// Runs the promises that reach every operation, with Prism checking the traffic between the CLI and every sandbox. Fails if a
// request or a response violates contract/openapi.yaml. For details, see docs/contributing/testing.md.
const root = join(import.meta.dirname, '..');
const folder = join(root, 'test/nightly/contract');
const contract = join(root, 'contract', 'openapi.yaml');
/** Together, they call every operation, with success, refusals, and lost replies. */
const PROMISES = ['create', 'sending', 'replace', 'never-twice', 'lists'];
const say = (line) => process.stderr.write(`${line}\n`);

await ensureBuilt();
// Prism and redocly are installed in a separate folder, because they aren't needed to build, test, or use the CLI.
await ensureInstalled(folder, 'Installing the contract check');
await step(
  'Lint of contract/openapi.yaml',
  process.execPath,
  [
    join(folder, 'node_modules/@redocly/cli/bin/cli.js'),
    'lint',
    '--config',
    join(folder, 'redocly.yaml'),
    contract,
  ],
  { env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
);

const { judgeOf } = await import('../test/nightly/contract/judge.js');
const { Record } = await import('../test/nightly/contract/record.js');
const { rehearse } = await import('../test/nightly/contract/rehearsal.js');
const { startRelay } = await import('../test/nightly/contract/relay.js');
const judge = await judgeOf(contract);
// First, the check tests itself: it must report every invalid exchange and no valid one.
const faults = await rehearse(judge);
if (faults.length > 0) {
  say(`The contract check itself is broken:\n${faults.join('\n')}`);
  process.exit(1);
}

const record = new Record(judge);
const relays = [];
const desk = createServer(async (request, response) => {
  const relay = await startRelay(await text(request), (exchange) => record.add(exchange));
  relays.push(relay);
  response.end(relay.origin);
});
await new Promise((resolve) => desk.listen(0, '127.0.0.1', resolve));

const proxy = `http://127.0.0.1:${desk.address().port}`;
const chosen = process.argv.slice(2);
const files = chosen.length > 0 ? chosen : PROMISES.map((name) => `test/promises/${name}.test.ts`);
const code = await runVitest(['promises'], files, { ESIGN_RELAY: proxy });
desk.close();
for (const relay of relays) relay.close();
const { lines, ok } = await record.close({ whole: chosen.length === 0 });
say(lines.join('\n'));
process.exitCode = code === 0 && ok ? 0 : 1;
