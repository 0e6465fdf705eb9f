import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { build } from 'esbuild';

/*
 * Many files out of a bucket, beside the tools people would take instead, on the same machine and the same bucket:
 * a real Ceph gateway where it is installed, the sandbox's bucket otherwise.
 * Run it by hand: node test/bench/documents.js [--files 1000] [--bytes 200000] [--rounds 3] [--many 10000]
 */
const root = join(import.meta.dirname, '../..');
const BUCKET = 'bench';
const AT_ONCE = 32;

/** @returns {Promise<{name: string, value: string, note: string}[]>} rows of a table of ratios */
export async function benchDocuments({ files = 1_000, bytes = 200_000, rounds = 3, many = 10_000 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  const server = await startServer(folder);
  try {
    const env = await environment(folder, server);
    const keys = await fill(server, 'papers/', files, bytes);
    const tools = toolsOf(server, keys, env);
    const times = await race(tools, folder, rounds);
    const rows = ratios(times, `${files} files of ${bytes / 1_000} KB, ${server.name}`);
    if (many > 0) rows.push(await memory(folder, server, env, many));
    return rows;
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function startServer(folder) {
  const outfile = join(folder, 'rgw.mjs');
  await build({
    entryPoints: [join(root, 'test/support/rgw.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
  });
  const { RGW_USERS, rgwMissing, startRgw } = await import(pathToFileURL(outfile).href);
  const missing = rgwMissing();
  if (missing !== undefined) {
    process.stderr.write(`${missing}; the sandbox's bucket stands in for it.\n`);
    return startSandbox(folder);
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

async function startSandbox(folder) {
  const env = {
    ...process.env,
    HOME: folder,
    ESIGN_CONFIG_DIR: join(folder, 'sandbox'),
    ESIGN_STATE_DIR: folder,
  };
  const words = ['sandbox', 'start', '--ephemeral', '--port', '0', '--json'];
  const child = spawn(process.execPath, [join(root, 'bin/run.js'), ...words], { env });
  let text = '';
  for await (const chunk of child.stdout) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  const { endpoint, bucket, accessKeyId, secretAccessKey } = JSON.parse(text);
  const stop = () =>
    new Promise((resolve) => {
      child.once('exit', resolve);
      child.kill();
    });
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
    PATH: process.env.PATH,
    HOME: folder,
    ESIGN_CONFIG_DIR: join(folder, 'config'),
    ESIGN_STATE_DIR: join(folder, 'state'),
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
  await run(process.execPath, [join(root, 'bin/run.js'), ...words, ...storage], {
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
    words: (dir) => [
      join(root, 'bin/run.js'),
      'documents',
      'download',
      '-',
      '--dir',
      dir,
      '--name-template',
      '{key}',
    ],
    env,
    input: `${keys.join('\n')}\n`,
  };
}

/** The tools in turn, round by round; the best time of each, so that a busy machine hurts none. */
async function race(tools, folder, rounds) {
  const times = new Map();
  for (let round = 0; round < rounds; round++) {
    for (const tool of tools) {
      const dir = join(folder, 'out');
      const ended = await run(tool.file, tool.words(dir), tool).catch((error) => error);
      await rm(dir, { recursive: true, force: true });
      if (ended instanceof Error) {
        process.stderr.write(`${tool.name} is skipped: ${ended.message}\n`);
        tools = tools.filter((one) => one !== tool);
      } else times.set(tool.name, Math.min(times.get(tool.name) ?? Number.POSITIVE_INFINITY, ended.ms));
    }
  }
  return times;
}

function ratios(times, what) {
  const own = times.get('esign');
  return [...times].map(([name, ms]) => ({
    name: `${what}: ${name}`,
    value: name === 'esign' ? `${(ms / 1_000).toFixed(2)} s` : `esign is ${(ms / own).toFixed(2)} x as fast`,
    note: name === 'esign' ? '' : `${(ms / 1_000).toFixed(2)} s`,
  }));
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
  return { name: `memory at ${many} files`, value: `${most} MB`, note: `${least} MB at ${few}` };
}

/** Runs a program to its end; how long it took and the most memory it held. */
function run(file, words, { env, input = '' }) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(file, words, { env, stdio: ['pipe', 'ignore', 'pipe'] });
    let said = '';
    let peakMb = 0;
    const watch = setInterval(async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
      const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
      peakMb = Math.max(peakMb, Math.round(kilobytes / 1_000));
    }, 50);
    child.stderr.on('data', (text) => {
      said += text;
    });
    child.on('error', (error) => {
      clearInterval(watch);
      reject(error);
    });
    child.on('close', (code) => {
      clearInterval(watch);
      if (code === 0) resolve({ ms: performance.now() - started, peakMb });
      else reject(new Error(`it ended with ${code}: ${said.slice(0, 300)}`));
    });
    child.stdin.on('error', () => undefined).end(input);
  });
}

if (process.argv[1] === import.meta.filename) {
  const option = (name) => {
    const at = process.argv.indexOf(`--${name}`);
    return at < 0 ? undefined : Number(process.argv[at + 1]);
  };
  const rows = await benchDocuments({
    files: option('files'),
    bytes: option('bytes'),
    rounds: option('rounds'),
    many: option('many'),
  });
  for (const { name, value, note } of rows)
    process.stdout.write(`${name.padEnd(70)} ${value.padEnd(28)} ${note}\n`);
}
