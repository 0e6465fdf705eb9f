import { existsSync, readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './ensure.js';
import { checkCore } from './systems/core.js';
import { inNewFolder, withPackage } from './systems/prepare.js';
import { System } from './systems/system.js';
import { checkUnit } from './systems/unit.js';
import { windowsSteps } from './systems/windows.js';
import { named, startWine } from './systems/wine.js';

// The package on Windows: Windows' own Node under wine; with `--unit` the unit suite instead, or what is named of it.
// docs/packaging.md says what runs, and what is wine's own.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { wine: { type: 'string' }, unit: { type: 'boolean' } },
});

if (values.unit) await inNewFolder(unit);
else await withPackage(['--os=win32', '--cpu=x64'], core);

async function unit(folder) {
  await ensureBuilt();
  const wine = await startWine(values.wine ?? '10', folder);
  try {
    if (!(await checkUnit(wine, folder, positionals))) process.exitCode = 1;
  } finally {
    wine.close();
  }
}

async function core(folder, program) {
  const wine = await startWine(values.wine, folder);
  const home = join(folder, 'files of Ada');
  await mkdir(home);
  const system = new System({
    command: [...wine.node, named(program)],
    env: wine.env,
    folder: home,
    named,
    platform: ['win32-x64', `node-v${wine.version}`],
    // Other folders of a user are links to this system's.
    homes: () => users(wine.prefix).map((user) => join(user, 'AppData')),
    profiles: 'Roaming/esign/profiles.json',
    interrupted: 130,
    takesKeys: !wine.isNew,
  });
  try {
    await checkCore(system, windowsSteps(wine));
  } finally {
    wine.close();
  }
}

function users(prefix) {
  const folder = join(prefix, 'drive_c/users');
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'AppData')));
  return names.map((name) => join(folder, name));
}
