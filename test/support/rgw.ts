import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, openSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { certify } from './certificates.ts';
import { portOf } from './server.ts';
import { needs } from './tools.ts';

/*
 * A real S3 server for tests: Ceph's object gateway with one monitor and one store in memory, from Debian's or Ubuntu's
 * packages. It runs in a temporary folder, on loopback, and leaves nothing behind.
 */
const run = promisify(execFile);
const READY_WITHIN_MS = 60_000;

export const RGW_USERS = {
  owner: { accessKeyId: 'RGWOWNER000000000000', secretAccessKey: 'owner-secret' },
  /** Has an account without access to the owner's objects. */
  stranger: { accessKeyId: 'RGWSTRANGER000000000', secretAccessKey: 'stranger-secret' },
};

/** For the tests that start one (test/support/tools.ts). */
export const needsRgw = needs('radosgw', 'ceph', 'ceph-mon', 'ceph-osd');

export interface Rgw {
  endpoint: string;
  /** The certificate to trust, with TLS. */
  caFile: string | undefined;
  stop(): Promise<void>;
}

/** Starts the server; it takes a second or two. */
export async function startRgw(options: { tls?: boolean } = {}): Promise<Rgw> {
  const dir = await mkdtemp(join(tmpdir(), 'esign-rgw-'));
  const children: ChildProcess[] = [];
  const stop = async () => {
    await Promise.all(children.map(ended));
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const ports = await freePorts(3);
    const caFile = options.tls ? await makeCertificate(dir) : undefined;
    await writeConfig(dir, ports, caFile !== undefined);
    await startCluster(dir, ports, children);
    const [port = 0] = ports;
    await addUsers(dir);
    return { endpoint: `${caFile ? 'https' : 'http'}://127.0.0.1:${port}`, caFile, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** SIGTERM would leave the store running for seconds; all its data is in memory. */
function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

async function makeCertificate(dir: string): Promise<string> {
  const { key, cert } = await certify('esign test authority');
  await writeFile(join(dir, 'key.pem'), key);
  await writeFile(join(dir, 'ca.pem'), cert);
  return join(dir, 'ca.pem');
}

async function writeConfig(
  dir: string,
  [gateway, monitor, oldMonitor]: number[],
  tls: boolean,
): Promise<void> {
  for (const folder of ['mon', 'osd', 'rgw', 'run']) await mkdir(join(dir, folder));
  const address = `127.0.0.1:${gateway}`;
  const frontend = tls
    ? `beast ssl_endpoint=${address} ssl_certificate=${dir}/ca.pem ssl_private_key=${dir}/key.pem`
    : `beast endpoint=${address}`;
  const settings: Record<string, Record<string, string | number>> = {
    global: {
      fsid: randomUUID(),
      mon_host: `[v2:127.0.0.1:${monitor},v1:127.0.0.1:${oldMonitor}]`,
      public_addr: '127.0.0.1',
      cluster_addr: '127.0.0.1',
      ms_bind_ipv6: 'false',
      auth_allow_insecure_global_id_reclaim: 'false',
      keyring: `${dir}/keyring`,
      run_dir: `${dir}/run`,
      admin_socket: `${dir}/run/$name.asok`,
      pid_file: `${dir}/run/$name.pid`,
      log_file: `${dir}/run/$name.log`,
      crash_dir: `${dir}/run`,
      // A single monitor needs no quorum; by default each decision takes a second, and the start eleven.
      paxos_propose_interval: 0.02,
      paxos_min_wait: 0.02,
      mon_tick_interval: 1,
      mon_data: `${dir}/mon`,
      mon_data_avail_crit: 1,
      mon_warn_on_pool_no_redundancy: 'false',
      mon_max_pg_per_osd: 2_000,
      osd_pool_default_size: 1,
      osd_pool_default_min_size: 1,
      osd_pool_default_pg_num: 1,
      osd_pool_default_pgp_num: 1,
      osd_pool_default_pg_autoscale_mode: 'off',
      osd_crush_chooseleaf_type: 0,
      osd_class_update_on_start: 'false',
      osd_data: `${dir}/osd`,
      osd_objectstore: 'memstore',
      memstore_device_bytes: 4_294_967_296,
      osd_memory_target: 939_524_096,
      // Debian 13 has a relative path here, with which the gateway does not start.
      osd_class_dir: classFolder(),
    },
    'client.rgw': {
      rgw_data: `${dir}/rgw`,
      rgw_frontends: frontend,
      rgw_run_sync_thread: 'false',
      rgw_enable_gc_threads: 'false',
      rgw_enable_lc_threads: 'false',
      rgw_num_rados_handles: 1,
    },
  };
  const text = Object.entries(settings).map(
    ([section, values]) =>
      `[${section}]\n${Object.entries(values)
        .map(([name, value]) => `${name} = ${value}\n`)
        .join('')}`,
  );
  await writeFile(join(dir, 'ceph.conf'), text.join('\n'));
}

function classFolder(): string {
  const library = '/usr/lib';
  const candidates = readdirSync(library).map((name) => join(library, name, 'rados-classes'));
  const found = [...candidates, join(library, 'rados-classes')].find((folder) =>
    existsSync(join(folder, 'libcls_rgw.so')),
  );
  if (found === undefined) throw new Error("Ceph's object classes are not installed");
  return found;
}

async function startCluster(dir: string, ports: number[], children: ChildProcess[]): Promise<void> {
  const conf = ['-c', join(dir, 'ceph.conf')];
  const keyring = join(dir, 'keyring');
  const map = join(dir, 'monmap');
  const key = (name: string, ...caps: string[]) =>
    run('ceph-authtool', [keyring, '--gen-key', '-n', name, ...caps]);
  await run('ceph-authtool', ['--create-keyring', keyring]);
  await key('mon.', '--cap', 'mon', 'allow *');
  await key('client.admin', '--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *');
  await key('osd.0', '--cap', 'mon', 'allow profile osd', '--cap', 'osd', 'allow *');
  await key('client.rgw', '--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *');
  const address = `[v2:127.0.0.1:${ports[1]},v1:127.0.0.1:${ports[2]}]`;
  await run('monmaptool', ['--create', '--fsid', await fsidOf(dir), '--addv', 'a', address, map]);
  await run('ceph-mon', [...conf, '--mkfs', '-i', 'a', '--monmap', map, '--keyring', keyring]);
  const start = (name: string, args: string[]) => {
    const log = openSync(join(dir, 'run', `${name}.out`), 'w');
    const child = spawn(name, [...conf, ...args, '-f'], { stdio: ['ignore', log, log] });
    children.push(child);
    return child;
  };
  start('ceph-mon', ['-i', 'a']);
  const store = randomUUID();
  await run('ceph', [...conf, 'osd', 'new', store], { timeout: READY_WITHIN_MS });
  await run('ceph-osd', [...conf, '-i', '0', '--mkfs', '--osd-uuid', store]);
  start('ceph-osd', ['-i', '0']);
  const gateway = start('radosgw', ['-n', 'client.rgw']);
  await untilListening(ports[0] ?? 0, gateway);
}

async function fsidOf(dir: string): Promise<string> {
  const { stdout } = await run('ceph-conf', ['-c', join(dir, 'ceph.conf'), '--lookup', 'fsid']);
  return stdout.trim();
}

async function addUsers(dir: string): Promise<void> {
  for (const [uid, { accessKeyId, secretAccessKey }] of Object.entries(RGW_USERS)) {
    const keys = ['--access-key', accessKeyId, '--secret-key', secretAccessKey];
    const conf = ['-c', join(dir, 'ceph.conf')];
    await run('radosgw-admin', [...conf, 'user', 'create', '--uid', uid, '--display-name', uid, ...keys], {
      timeout: READY_WITHIN_MS,
    });
  }
}

async function untilListening(port: number, gateway: ChildProcess): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!(await answers(port))) {
    if (gateway.exitCode !== null || Date.now() > deadline) throw new Error('the Ceph gateway did not start');
    await pause(50);
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve);
      });
      return server;
    }),
  );
  const ports = servers.map((server) => {
    return portOf(server);
  });
  await Promise.all(servers.map((server) => promisify(server.close.bind(server))()));
  return ports;
}
