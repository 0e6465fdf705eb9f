import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { NODES, nodeOf } from './nodes.js';
import { checkCore } from './systems/core.js';
import { ensurePackages, withPackage } from './systems/prepare.js';
import { System } from './systems/system.js';

// The package on Windows: Windows' own Node under wine. docs/packaging.md says what runs, and what is wine's own.
const VERSION = NODES[22];
const WINE = '/usr/lib/wine';
const named = (path) => `Z:${path.replaceAll('/', '\\')}`;

/** Holds a file open until a paper has come into its folder, and a moment longer. */
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

await ensurePackages(['wine64'], () => existsSync(join(WINE, 'wine64')));
const node = await nodeOf(VERSION, 'win', 'x64');
await withPackage(['--os=win32', '--cpu=x64'], async (folder, program) => {
  const prefix = join(folder, 'prefix');
  const env = {
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    WINEARCH: 'win64',
    WINEDLLOVERRIDES: 'mscoree,mshtml=',
  };
  const wine = (tool, ...words) =>
    spawnSync(join(WINE, tool), words, { env: { ...process.env, ...env }, stdio: 'ignore' });
  wine('wine64', 'wineboot', '-i');
  // Node refuses the Windows 7 that wine 8 says it is.
  wine('wine64', 'reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f');
  const preload = join(folder, 'preload.cjs');
  await writeFile(
    preload,
    'require("node:net").Socket.prototype.setKeepAlive = function () { return this; };\n',
  );
  const home = join(folder, 'files of Ada');
  await mkdir(home);
  const wineNode = [join(WINE, 'wine64'), node];
  const system = new System({
    command: [...wineNode, named(program)],
    env: { ...env, NODE_OPTIONS: `--require=${preload.replace('/', 'Z:/')}` },
    folder: home,
    named,
    platform: ['win32-x64', `node-v${VERSION}`],
    // Other folders of a user are links to this system's.
    homes: () => users(prefix).map((user) => join(user, 'AppData')),
    profiles: 'Roaming/esign/profiles.json',
    interrupted: 130,
  });
  try {
    await checkCore(system, { 'A file that another program has open': (on) => held(on, wineNode) });
  } finally {
    wine('wineserver', '-k', '-w');
  }
});

function users(prefix) {
  const folder = join(prefix, 'drive_c/users');
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'AppData')));
  return names.map((name) => join(folder, name));
}

/** The list of a folder can't be replaced while an editor or a virus scanner has it open; a download waits. */
async function held(system, [wine, node]) {
  const create = ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'bo@example.com', '--send'];
  const { id } = await system.json(create);
  await system.run(['sandbox', 'sign', id]);
  const [folder, opened] = [system.path('signed papers/of Ada'), system.path('opened')];
  const words = [node, '-e', HOLD, named(folder), id, named(opened)];
  const editor = spawn(wine, words, { env: system.env, stdio: 'ignore' });
  const ended = once(editor, 'exit');
  while (!existsSync(opened)) await pause(50);
  await system.run(['envelopes', 'download', id, '--dir', 'signed papers/of Ada']);
  await ended;
  const list = readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
  if (!list.includes(id)) throw new Error('the list does not name what was downloaded');
}
