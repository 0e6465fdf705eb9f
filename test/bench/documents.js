import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { showStep } from '../../scripts/progress.js';
import {
  BIN,
  growthOf,
  homeIn,
  importSources,
  inTurn,
  median,
  option,
  printRows,
  ratioRow,
  rowOf,
  run,
  startSandbox,
} from './measure.js';

/*
 * Downloads many files from a bucket, compared with common alternatives on the same machine and bucket: a real Ceph gateway
 * if installed, otherwise the sandbox's bucket.
 * To run: node test/bench/documents.js [--files 1000] [--bytes 200000] [--rounds 5] [--many 10000] [--large 1000000000]
 */
const BUCKET = 'bench';
const AT_ONCE = 32;
const IN_SECONDS = { unit: 's', digits: 2 };

/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchDocuments({
  files = 1_000,
  bytes = 200_000,
  rounds = 5,
  many = 10_000,
  large = 1_000_000_000,
} = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  const server = await startServer(folder);
  try {
    const env = await environment(folder, server);
    return [
      ...(await small(folder, server, env, { files, bytes, rounds })),
      ...(large > 0 ? [await largeFile(folder, server, env, { bytes: large, rounds })] : []),
      ...(many > 0 ? [await memory(folder, server, env, many)] : []),
    ];
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function startServer(folder) {
  const { RGW_USERS, needsRgw, startRgw } = await importSources(folder, 'test/support/rgw.ts');
  if (needsRgw.skip) {
    process.stderr.write("Ceph is not installed; the sandbox's bucket is used instead.\n");
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
  showStep(`filling the bucket with ${count} files`);
  // One folder per envelope, like the service.
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

/** A home with a profile for esign, and the other tools' settings as environment variables. */
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
    '--api-key-file',
    '-',
    '--no-verify',
  ];
  const storage = ['--bucket', server.bucket, '--endpoint', server.endpoint];
  await run(process.execPath, [BIN, ...words, ...storage], {
    env,
    input: 'sk_bench_0123456789\n',
  });
  return env;
}

async function small(folder, server, env, { files, bytes, rounds }) {
  const keys = await fill(server, 'documents/', files, bytes);
  const { esign: own, ...others } = await race(toolsOf(server, keys, env), folder, rounds);
  const seconds = (seen) => seen.map(({ ms }) => ms / 1_000);
  const each = (seen) => seen.map(({ cpu }) => cpu / files);
  const inWords = Object.entries(others).map(([name, seen]) => `${name} ${median(each(seen)).toFixed(2)}`);
  return [
    rowOf(`download: ${files} files of ${bytes / 1_000} KB, ${server.name}`, seconds(own), IN_SECONDS),
    ...Object.entries(others).map(([name, seen]) =>
      ratioRow(`download: speed relative to ${name}`, seconds(seen), seconds(own), {
        asked: ASKED[name],
        note: `${median(seconds(seen)).toFixed(2)} s`,
      }),
    ),
    rowOf('download: processor time per file', each(own), {
      unit: 'ms',
      digits: 2,
      note: `including process start and exit; ${inWords.join(', ')}`,
    }),
  ];
}

const AWS = 'aws s3 cp --recursive';
const ASKED = { [AWS]: '>= 1', 'rclone copy': '>= 1' };

function toolsOf(server, keys, env) {
  const source = `s3://${server.bucket}/documents/`;
  // A shim on the PATH may start another Python. Compare with the distribution's.
  const aws = existsSync('/usr/bin/aws') ? '/usr/bin/aws' : 'aws';
  const endpoint = ['--endpoint-url', server.endpoint];
  return {
    esign: esign(env, keys),
    [AWS]: {
      file: aws,
      words: (dir) => ['s3', 'cp', '--recursive', '--quiet', ...endpoint, source, dir],
      env,
    },
    'rclone copy': { file: 'rclone', words: (dir) => ['copy', `b:${server.bucket}/documents`, dir], env },
  };
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
 * Nothing is deleted during the runs: for minutes, ext4 skips each inode that was just freed, which slows down the next
 * tool.
 */
function race(tools, folder, rounds) {
  const takes = Object.entries(tools).map(([name, tool], at) => [
    name,
    (round) => run(tool.file, tool.words(join(folder, `out-${round}-${at}`)), tool),
  ]);
  return inTurn(rounds, Object.fromEntries(takes));
}

/** One large file, compared with curl, which also signs its request, and `sync`: esign syncs each file. */
async function largeFile(folder, server, env, { bytes, rounds }) {
  const keys = await fill(server, 'large/', 1, bytes);
  const { accessKeyId, secretAccessKey } = server.keys;
  const signed = `--header x-amz-content-sha256:UNSIGNED-PAYLOAD --aws-sigv4 aws:amz:us-east-1:s3 --user ${accessKeyId}:${secretAccessKey}`;
  const curl = `curl --silent --fail ${signed} --output "$0" ${server.endpoint}/${server.bucket}/${keys[0]} && sync "$0"`;
  const tools = {
    esign: esign(env, keys),
    curl: { file: 'sh', words: (dir) => ['-c', curl, `${dir}.pdf`], env: process.env },
  };
  const { esign: own, curl: other } = await race(tools, folder, rounds);
  const ms = (seen) => seen.map((one) => one.ms);
  return ratioRow(
    `download: speed relative to curl and sync, one file of ${bytes / 1e9} GB`,
    ms(other),
    ms(own),
    {
      asked: '>= 0.75',
      note: `${(median(ms(own)) / 1_000).toFixed(2)} and ${(median(ms(other)) / 1_000).toFixed(2)} s`,
    },
  );
}

/** Peak memory with few and with many files, which must not grow with their number, and the cost of each. */
async function memory(folder, server, env, many) {
  const keys = await fill(server, 'many/', many, 20_000);
  const counts = [many / 100, many / 10, many].map(Math.ceil);
  const taken = [];
  for (const count of counts) {
    showStep(`${count} files of 20 KB`);
    const dir = join(folder, 'out');
    const tool = esign(env, keys.slice(0, count));
    taken.push(await run(tool.file, tool.words(dir), tool));
    await rm(dir, { recursive: true, force: true });
  }
  const most = taken.at(-1).peakMb;
  return {
    name: `memory: download of ${many} files`,
    value: `${most} MB`,
    asked: '< 150 MB',
    good: most < 150,
    note: `${taken.at(-2).peakMb} MB at ${counts.at(-2)}`,
    growth: growthOf('documents download', 'files', counts, taken),
  };
}

if (process.argv[1] === import.meta.filename) {
  const names = ['files', 'bytes', 'rounds', 'many', 'large'];
  printRows(await benchDocuments(Object.fromEntries(names.map((name) => [name, option(name)]))));
}
