import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CREATE, same } from './core.js';
import { named } from './wine.js';

/** Keeps a file open until a document appears in its folder, and a moment longer. */
const HOLD = `
const { existsSync, openSync, readdirSync, writeFileSync } = require('node:fs');
const [folder, id, opened] = process.argv.slice(1);
openSync(folder + '/SHA256SUMS');
writeFileSync(opened, '');
const timer = setInterval(() => {
  if (!readdirSync(folder).some((name) => name.startsWith(id) && name.endsWith('.pdf'))) return;
  clearInterval(timer);
  setTimeout(() => {}, 1500);
}, 20);
`;
const TUNNEL = `
console.log('https://tunnel.example.com');
setInterval(() => {}, 1000);
`;
const HANDLE = `
const { appendFileSync, readFileSync } = require('node:fs');
const { event } = JSON.parse(readFileSync(0, 'utf8'));
appendFileSync(process.argv[2], [event, process.env.ESIGN_EVENT].join(' ') + '\\n');
`;

/** Checks of everything that is different on Windows: open files, processes, and shells. */
export function windowsSteps(wine) {
  return {
    'A file that another program has open': (system) => held(system, wine),
    'Completion for PowerShell': completion,
    'Listen with a tunnel and a command': (system) => tunnel(system, wine),
  };
}

/** The checksum list of a folder can't be replaced while an editor or a virus scanner has it open, so a download waits. */
async function held(system, wine) {
  const { id } = await system.json([...CREATE, '--send']);
  await system.run(['sandbox', 'sign', id]);
  const [folder, opened] = [system.path('signed documents/of Ada'), system.path('opened')];
  const [program, ...words] = [...wine.node, '-e', HOLD, named(folder), id, named(opened)];
  const editor = spawn(program, words, { env: system.env, stdio: 'ignore' });
  const ended = once(editor, 'exit');
  while (!existsSync(opened)) await pause(50);
  await system.run(['envelopes', 'download', id, '--dir', 'signed documents/of Ada']);
  await ended;
  same(readFileSync(join(folder, 'SHA256SUMS'), 'utf8').includes(id), true);
}

/** Both commands are run by a shell. The processes that the shell started must end with the listener. */
async function tunnel(system, wine) {
  const line = async (name, code, ...words) => {
    await writeFile(system.path(name), code);
    return [wine.node.at(-1), system.path(name), ...words].map((path) => `"${named(path)}"`).join(' ');
  };
  const { id } = await system.json([...CREATE, '--send']);
  const handled = system.path('handled events');
  const listening = system.start([
    ...['listen', '--port', '0', '--secret-file', 'webhook secret', '--json', '--envelope', id],
    ...['--tunnel', await line('a tunnel.cjs', TUNNEL), '--exec', await line('handle.cjs', HANDLE, handled)],
  ]);
  const [shown, reachable] = (await listening.lines(2)).map((text) => JSON.parse(text));
  same([reachable.type, new URL(reachable.url).host], ['tunnel', 'tunnel.example.com']);
  same(isRunning('a tunnel.cjs'), true);
  const trigger = ['events', 'trigger', 'completed', '--to', shown.url, '--envelope', id];
  await system.run([...trigger, '--secret-file', 'webhook secret']);
  await system.run(['sandbox', 'sign', id]);
  same(await listening.ended, 0);
  same(readFileSync(handled, 'utf8'), 'envelope.completed envelope.completed\n');
  same(isRunning('a tunnel.cjs'), false);
}

function isRunning(script) {
  return spawnSync('pgrep', ['-f', `${script}$`]).status === 0;
}

async function completion(system, { envelope }) {
  const script = await system.run(['autocomplete', 'powershell']);
  same(/^Register-ArgumentCompleter .*esign/m.test(script), true);
  const [kind, ...lines] = (
    await system.run(['__complete', 'powershell', '=env_', 'envelopes', 'get'])
  ).split('\n');
  same([kind, lines.some((line) => line.startsWith(envelope))], [':none', true]);
}
