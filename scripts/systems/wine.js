import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt } from '../ensure.js';
import { NODES, nodeOf } from '../nodes.js';
import { cannotBegin, ensurePackages, havePackages } from './prepare.js';

const WINE = '/usr/lib/wine';
const DEBIAN = join(import.meta.dirname, '../../node_modules/.cache/debian-13');
/** A program sees Debian 13's /usr in the place of this system's, and all else as it is. */
const IN_DEBIAN = ['unshare', '-m', 'sh', '-c', `mount --bind '${DEBIAN}/usr' /usr && exec "$@"`, 'sh'];
const KEEP_ALIVE = 'require("node:net").Socket.prototype.setKeepAlive = function () { return this; };\n';

/** How Windows calls a file of this system. */
export const named = (path) => `Z:${path.replaceAll('/', '\\')}`;

/**
 * Windows' Node under wine: 24 under wine 10 where Debian 13's packages can be had, else 22 under the wine that this system
 * has. docs/packaging.md says what is wine's own.
 * @param asked 10 or 8 takes that one, or none
 */
export async function startWine(asked, folder) {
  const why = asked === '8' ? 'not asked for' : await missingDebian();
  if (why === undefined)
    return new Wine({ before: IN_DEBIAN, version: NODES[24], isNew: true }).begin(folder);
  if (asked === '10') return cannotBegin(`Wine 10 can't be had: ${why}`);
  if (asked === undefined) process.stderr.write(`Wine 10 is not available; using an older version: ${why}\n`);
  await ensurePackages(['wine64'], () => existsSync(join(WINE, 'wine64')));
  return new Wine({ before: [], version: NODES[22], isNew: false }).begin(folder);
}

/** Makes a folder with Debian 13 and its wine unless it is there; says why it can't. */
async function missingDebian() {
  if (existsSync(DEBIAN)) return undefined;
  if (process.getuid?.() !== 0) return 'only root may mount its folder';
  const debootstrap = '/usr/sbin/debootstrap';
  if (!(await havePackages(['debootstrap', 'debian-archive-keyring'], () => existsSync(debootstrap))))
    return 'debootstrap is missing';
  const unfinished = `${DEBIAN}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  const words = ['--variant=minbase', '--include=wine64', 'trixie', unfinished, ...mirror()];
  const { code, printed } = await attempt("Fetching Debian 13's wine", debootstrap, words);
  if (code !== 0) return `debootstrap exited with ${code}: ${printed.trim().split('\n').at(-1)}`;
  await rename(unfinished, DEBIAN);
  return undefined;
}

/** Where this system gets Debian's packages; debootstrap itself knows where others do. */
function mirror() {
  const words = ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages', 'Label: Debian'];
  const { stdout } = spawnSync('apt-get', words, { encoding: 'utf8' });
  return stdout.split('\n').filter(Boolean).slice(0, 1);
}

class Wine {
  #before;

  constructor({ before, version, isNew }) {
    this.#before = before;
    this.version = version;
    this.isNew = isNew;
  }

  async begin(folder) {
    this.prefix = join(folder, 'prefix');
    this.env = {
      WINEPREFIX: this.prefix,
      WINEDEBUG: '-all',
      WINEARCH: 'win64',
      WINEDLLOVERRIDES: 'mscoree,mshtml=',
    };
    this.#run('wine64', 'wineboot', '-i');
    // Node refuses the Windows 7 that wine 8 says it is.
    this.#run('wine64', 'reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f');
    if (!this.isNew) {
      const preload = join(folder, 'preload.cjs');
      await writeFile(preload, KEEP_ALIVE);
      this.env.NODE_OPTIONS = `--require=${preload.replace('/', 'Z:/')}`;
    }
    const node = await nodeOf(this.version, 'win', 'x64');
    /** What Windows' Node is called with. */
    this.node = [...this.#before, join(WINE, 'wine64'), node];
    return this;
  }

  close() {
    this.#run('wineserver', '-k', '-w');
  }

  #run(tool, ...words) {
    const [program, ...rest] = [...this.#before, join(WINE, tool), ...words];
    return spawnSync(program, rest, { env: { ...process.env, ...this.env }, stdio: 'ignore' });
  }
}
