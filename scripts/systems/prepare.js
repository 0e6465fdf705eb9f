import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../ensure.js';
import { install, pack } from '../tarball.js';

/** How a check ends that could not begin. */
const NOT_HERE = 77;

/** Installs packages of Debian unless what they bring is here already; ends with 77 where that can't be done. */
export async function ensurePackages(packages, areHere) {
  if (await havePackages(packages, areHere)) return;
  cannotBegin(`This check needs Debian's packages ${packages.join(' ')}: install them, or be root.`);
}

/** Whether what packages of Debian bring is here, by now. */
export async function havePackages(packages, areHere) {
  if (areHere()) return true;
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const can = (words) => spawnSync(words[0], words.slice(1), { stdio: 'ignore' }).status === 0;
  if (can([...asRoot, 'apt-get', '--version'])) {
    await apt([...asRoot, 'apt-get', 'update', '-qq']);
    await apt([...asRoot, 'apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...packages]);
  }
  return areHere();
}

export function cannotBegin(why) {
  process.stderr.write(`${why}\nNothing was checked.\n`);
  process.exit(NOT_HERE);
}

async function apt([program, ...words]) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const child = spawnSync(program, words, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  if (child.status !== 0) process.stderr.write(`apt-get exited with ${child.status}\n`);
}

/** Packs and installs for a system, does the work there, and clears it away. */
export async function withPackage(words, work) {
  await ensureBuilt();
  await inNewFolder(async (folder) => {
    const { tarball } = await pack(folder);
    await work(folder, await install(tarball, join(folder, 'program'), words));
  });
}

/** Does work in a folder that is gone afterwards. */
export async function inNewFolder(work) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-systems-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
