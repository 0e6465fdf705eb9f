import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { BIN, homeIn, importSources, option, printRows, run, startSandbox, times } from './measure.js';

/*
 * Many files out of a bucket, beside the tools people would take instead, on the same machine and the same bucket:
 * a real Ceph gateway where it is installed, the sandbox's bucket otherwise.
 * Run it by hand: node test/bench/documents.js [--files 1000] [--bytes 200000] [--rounds 3] [--many 10000]
 */
const BUCKET = 'bench';
const AT_ONCE = 32;

/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchDocuments({ files = 1_000, bytes = 200_000, rounds = 3, many = 10_000 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  const server = await startServer(folder);
  try {
    const env = await environment(folder, server);
    const keys = await fill(server, 'papers/', files, bytes);
    const tools = toolsOf(server, keys, env);
    const seen = await race(tools, folder, rounds);
    const rows = ratios(seen, `${files} files of ${bytes / 1_000} KB, ${server.name}`);
    if (many > 0) rows.push(await memory(folder, server, env, many));
    return rows;
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function startServer(folder) {
  const { RGW_USERS, needsRgw, startRgw } = await importSources(folder, 'test/support/rgw.ts');
  if (needsRgw.skip) {
    process.stderr.write("Ceph is not installed; the sandbox's bucket stands in for it.\n");
    return sandboxBucket(folder);
  }
  const rgw = await startRgw();
  const server = {
    name: 'Ceph',
    endpoint: rgw.endpoint,
    bucket: BUCKET,
    keys: RGW_USERS.owner,
    stop: rgw.stop,
  };
  const client = clientOf(server);
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  client.destroy();
  return server;
}

async function sandboxBucket(folder) {
  const { ready, stop } = await startSandbox(folder);
  const { endpoint, bucket, accessKeyId, secretAccessKey } = ready;
  return { name: "the sandbox's bucket", endpoint, bucket, keys: { accessKeyId, secretAccessKey }, stop };
}

function clientOf({ endpoint, keys }) {
  return new S3Client({
    endpoint,
    credentials: keys,
    region: 'us-east-1',
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
}

async function fill(server, prefix, count, bytes) {
  const client = clientOf(server);
  const keys = Array.from({ length: count }, (_, index) => `${prefix}env_${index}/signed.pdf`);
  const next = keys.values();
  const work = async () => {
    for (const Key of next) {
      const Body = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(bytes - 9)]);
      await client.send(new PutObjectCommand({ Bucket: server.bucket, Key, Body }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  client.destroy();
  return keys;
}

/** A home with a profile for esign, and the settings of the other tools in their variables. */
async function environment(folder, server) {
  const { accessKeyId, secretAccessKey } = server.keys;
  const env = {
    ...homeIn(folder),
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_DEFAULT_REGION: 'us-east-1',
    RCLONE_CONFIG_B_TYPE: 's3',
    RCLONE_CONFIG_B_PROVIDER: 'Ceph',
    RCLONE_CONFIG_B_ENV_AUTH: 'true',
    RCLONE_CONFIG_B_ENDPOINT: server.endpoint,
  };
  const words = [
    'profiles',
    'add',
    'bench',
    '--base-url',
    'http://127.0.0.1:9/v1',
    '--api-key-stdin',
    '--no-verify',
  ];
  const storage = ['--bucket', server.bucket, '--endpoint', server.endpoint];
  await run(process.execPath, [BIN, ...words, ...storage], {
    env,
    input: 'sk_bench_0123456789\n',
  });
  return env;
}

function toolsOf(server, keys, env) {
  const source = `s3://${server.bucket}/papers/`;
  // A shim on the PATH may start a Python of its own; the distribution's is what is compared with.
  const aws = existsSync('/usr/bin/aws') ? '/usr/bin/aws' : 'aws';
  return [
    { name: 'esign', ...esign(env, keys) },
    {
      name: 'aws s3 cp --recursive',
      file: aws,
      words: (dir) => ['s3', 'cp', '--recursive', '--quiet', '--endpoint-url', server.endpoint, source, dir],
      env,
    },
    { name: 'rclone copy', file: 'rclone', words: (dir) => ['copy', `b:${server.bucket}/papers`, dir], env },
  ];
}

function esign(env, keys) {
  return {
    file: process.execPath,
    words: (dir) => [BIN, 'documents', 'download', '-', '--dir', dir, '--name-template', '{key}'],
    env,
    input: `${keys.join('\n')}\n`,
  };
}

/**
 * The tools in turn, round by round; the best time of each, so that a busy machine hurts none. Nothing is deleted
 * meanwhile: for minutes ext4 steps over each inode that was just freed, in whatever tool comes next.
 */
async function race(tools, folder, rounds) {
  const seen = new Map();
  for (let round = 0; round < rounds; round++) {
    for (const tool of tools) {
      const dir = join(folder, `out-${round}-${tool.name.split(' ', 1)}`);
      const ended = await run(tool.file, tool.words(dir), tool).catch((error) => error);
      if (ended instanceof Error) {
        process.stderr.write(`${tool.name} is skipped: ${ended.message}\n`);
        tools = tools.filter((one) => one !== tool);
      } else seen.set(tool.name, Math.min(seen.get(tool.name) ?? Number.POSITIVE_INFINITY, ended.ms));
    }
  }
  return seen;
}

function ratios(seen, what) {
  const own = seen.get('esign');
  return [...seen].map(([name, ms]) => {
    const note = `${(ms / 1_000).toFixed(2)} s`;
    if (name === 'esign') return { name: `download: ${what}`, value: note };
    const row = { name: `download: as fast as ${name}`, value: times(ms / own), note };
    return name.startsWith('aws') ? { ...row, asked: '>= 1.5 x', good: ms / own >= 1.5 } : row;
  });
}

/** Peak memory on few files and on many: it must not grow with their number. */
async function memory(folder, server, env, many) {
  const few = Math.ceil(many / 10);
  const keys = await fill(server, 'many/', many, 20_000);
  const peak = async (some) => {
    const dir = join(folder, 'out');
    const tool = esign(env, some);
    const { peakMb } = await run(tool.file, tool.words(dir), tool);
    await rm(dir, { recursive: true, force: true });
    return peakMb;
  };
  const [least, most] = [await peak(keys.slice(0, few)), await peak(keys)];
  return {
    name: `memory: download of ${many} files`,
    value: `${most} MB`,
    asked: '< 150 MB',
    good: most < 150,
    note: `${least} MB at ${few}`,
  };
}

if (process.argv[1] === import.meta.filename)
  printRows(
    await benchDocuments({
      files: option('files'),
      bytes: option('bytes'),
      rounds: option('rounds'),
      many: option('many'),
    }),
  );
