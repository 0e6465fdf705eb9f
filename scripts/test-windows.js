import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from './ensure.js';
import { checkCore } from './systems/core.js';
import { System } from './systems/system.js';
import { windowsSteps } from './systems/windows.js';
import { named, startWine } from './systems/wine.js';
import { install, pack } from './tarball.js';

// Tests the package on Windows, emulated by Wine with Windows' own Node. For details, see docs/contributing/releases.md.
await ensureBuilt();
const folder = await mkdtemp(join(tmpdir(), 'esign-windows-'));
let wine;
try {
  const { tarball } = await pack(folder);
  const program = await install(tarball, join(folder, 'program'), ['--os=win32', '--cpu=x64']);
  wine = await startWine(folder);
  const home = join(folder, 'files of Ada');
  await mkdir(home);
  const users = join(wine.prefix, 'drive_c/users');
  const system = new System({
    command: [...wine.node, named(program)],
    env: wine.env,
    folder: home,
    named,
    platform: ['win32-x64', `node-v${wine.version}`],
    // The user's other folders are links to those of this system.
    homes: () =>
      readdirSync(users)
        .map((user) => join(users, user, 'AppData'))
        .filter(existsSync),
    profiles: 'Roaming/esign/profiles.json',
    interrupted: 130,
    takesKeys: false,
  });
  await checkCore(system, windowsSteps(wine));
} finally {
  wine?.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
