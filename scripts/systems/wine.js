import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt } from '../ensure.js';
import { NODES, nodeOf } from '../nodes.js';

const WINE = '/usr/lib/wine';
const DEBIAN = join(import.meta.dirname, '../../node_modules/.cache/debian-13');
const DEBOOTSTRAP = '/usr/sbin/debootstrap';
/** Runs a program that sees Debian 13's /usr in place of this system's. Everything else is unchanged. */
const IN_DEBIAN = ['unshare', '-m', 'sh', '-c', `mount --bind '${DEBIAN}/usr' /usr && exec "$@"`, 'sh'];
/** The exit code if the checks can't start. */
const NOT_HERE = 77;

/** Converts a path on this system to a Windows path. */
export const named = (path) => `Z:${path.replaceAll('/', '\\')}`;

/** Starts Windows' Node under Debian 13's Wine 10 (see docs/contributing/releases.md). Exits with 77 if that isn't possible. */
export async function startWine(folder) {
  const why = await missingDebian();
  if (why !== undefined) {
    process.stderr.write(`Wine 10 is not available: ${why}\nNothing was checked.\n`);
    process.exit(NOT_HERE);
  }
  const version = NODES[24];
  const prefix = join(folder, 'prefix');
  const overrides = { WINEDEBUG: '-all', WINEARCH: 'win64', WINEDLLOVERRIDES: 'mscoree,mshtml=' };
  const env = { WINEPREFIX: prefix, ...overrides };
  const run = (...words) => {
    const [program, ...rest] = [...IN_DEBIAN, ...words];
    spawnSync(program, rest, { env: { ...process.env, ...env }, stdio: 'ignore' });
  };
  run(join(WINE, 'wine64'), 'wineboot', '-i');
  /** The command that runs Windows' Node. */
  const node = [...IN_DEBIAN, join(WINE, 'wine64'), await nodeOf(version, 'win', 'x64')];
  return { version, prefix, env, node, close: () => run(join(WINE, 'wineserver'), '-k', '-w') };
}

/** Installs Debian 13 with Wine in a folder, unless it exists. If that isn't possible, returns the reason. */
async function missingDebian() {
  if (existsSync(DEBIAN)) return undefined;
  if (process.getuid?.() !== 0) return 'mounting its folder requires root';
  if (!existsSync(DEBOOTSTRAP)) {
    const apt = (...words) => spawnSync('apt-get', words, { stdio: ['ignore', 'ignore', 'inherit'] });
    apt('update', '-qq');
    apt('install', '-y', '-qq', '--no-install-recommends', 'debootstrap', 'debian-archive-keyring');
    if (!existsSync(DEBOOTSTRAP)) return 'debootstrap is missing';
  }
  const unfinished = `${DEBIAN}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  const words = ['--variant=minbase', '--include=wine64', 'trixie', unfinished, ...mirror()];
  const { code, printed } = await attempt("Downloading Debian 13's Wine", DEBOOTSTRAP, words);
  if (code !== 0) return `debootstrap exited with ${code}: ${printed.trim().split('\n').at(-1)}`;
  await rename(unfinished, DEBIAN);
  return undefined;
}

/** Returns the mirror from which this system gets Debian's packages. On other systems, debootstrap uses its default. */
function mirror() {
  const words = ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages', 'Label: Debian'];
  const { stdout } = spawnSync('apt-get', words, { encoding: 'utf8' });
  return stdout.split('\n').filter(Boolean).slice(0, 1);
}
