import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { counted } from '../kernel/duration.ts';
import { command } from '../kernel/text/shell-words.ts';
import type { CommandLine, RunningCommand } from './child-command-line.ts';

/** A step of the demo: its title, the command, and the result. */
export interface DemoStep {
  title: string;
  /** The command as the user would type it. */
  command: string;
  /** The lines of the result. */
  outcome: string[];
}

/** The result of the demo. */
export interface DemoSummary {
  folder: string;
  envelopeId: string;
  status: string;
  signers: string[];
  webhooks: { received: number; verified: number; events: string[] };
  files: { what: string; path: string; bytes: number; sha256: string }[];
  seconds: number;
}

const sandboxSchema = z.looseObject({ baseUrl: z.string(), dashboardUrl: z.string() });
const readySchema = z.looseObject({ url: z.string() });
const templateSchema = z.array(z.looseObject({ id: z.string(), name: z.string(), pageCount: z.number() }));
const envelopeSchema = z.looseObject({ id: z.string(), status: z.string() });
const deliverySchema = z.looseObject({
  type: z.string(),
  event: z.optional(z.nullable(z.string())),
  verified: z.optional(z.boolean()),
});
const fileSchema = z.looseObject({
  what: z.string(),
  path: z.string(),
  bytes: z.number(),
  sha256: z.string(),
});

const TEMPLATE = 'tmpl_lease';
/** The signers, with values for some fields of the lease. The other fields get generated values. */
const SIGNERS = [
  {
    name: 'Łukasz Řehoř',
    email: 'lukasz@example.com',
    role: 'Landlord',
    values: {
      lease_landlord: 'Łukasz Řehoř, Náměstí Míru 3, Brno',
      lease_address: '12 Harbor Street, Apt 4',
      lease_rent: 'EUR 980',
      lease_deposit: 'EUR 1,960',
    },
  },
  {
    name: 'Ελένη Παππά',
    email: 'eleni@example.com',
    role: 'Tenant',
    values: {
      lease_tenant: 'Ελένη Παππά, Οδός Ερμού 21, Αθήνα',
      lease_occupants: 'None',
      lease_phone: '+30 210 555 0100',
    },
  },
];
const SIGNER_FLAGS = SIGNERS.flatMap(({ name, email, role }) => [
  '--signer',
  `${name} <${email}>;role=${role}`,
]);

/**
 * Runs the main workflow from end to end. Each step has the command that a user would type. The documents are saved in `folder`, temporary
 * files in `own`. Yields each step when it is done and returns the summary. Everything that was started is always stopped.
 */
export async function* runDemo(
  cli: CommandLine,
  folder: string,
  own: string,
): AsyncGenerator<DemoStep, DemoSummary | undefined, undefined> {
  const started = Date.now();
  const running: RunningCommand[] = [];
  try {
    const sandbox = yield* startSandbox(cli, running);
    const listener = yield* startListener(cli, own, running);
    yield* showTemplates(cli);
    const id = yield* createDraft(cli, listener);
    yield* send(cli, id);
    const watching = cli.start(`envelopes watch ${id} --interval 300ms --timeout 60s --json`);
    running.push(watching);
    for (const signer of SIGNERS) yield* sign(cli, id, signer);
    yield* awaitCompletion(watching, id);
    const webhooks = yield* collectWebhooks(listener.process);
    const files = yield* download(cli, id, folder);
    yield {
      title: 'Done',
      command: '',
      outcome: [`The sandbox at ${sandbox.dashboardUrl} stops now. The files are kept.`],
    };
    return {
      folder,
      envelopeId: id,
      status: 'COMPLETED',
      signers: SIGNERS.map((signer) => `${signer.name} <${signer.email}>`),
      webhooks,
      files,
      seconds: Math.round((Date.now() - started) / 100) / 10,
    };
  } finally {
    await Promise.all(running.reverse().map((process) => process.stop()));
  }
}

async function* startSandbox(cli: CommandLine, running: RunningCommand[]) {
  const process = cli.start('sandbox start --ephemeral --port 0 --json');
  running.push(process);
  const sandbox = sandboxSchema.parse(await process.line());
  yield {
    title: 'Start the complete service on this machine',
    command: 'esign sandbox start --ephemeral',
    outcome: [`The API is at ${sandbox.baseUrl}, with a bucket for documents.`],
  };
  return sandbox;
}

async function* startListener(cli: CommandLine, own: string, running: RunningCommand[]) {
  const secretFile = join(own, 'webhook.secret');
  await writeFile(secretFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
  const process = cli.start('listen --port 0 --json --secret-file', secretFile);
  running.push(process);
  const { url } = readySchema.parse(await process.line());
  yield {
    title: 'Start a webhook receiver that accepts only valid signatures',
    command: 'esign listen --secret-file webhook.secret',
    outcome: [`The receiver listens at ${url}.`],
  };
  return { process, url, secretFile };
}

async function* showTemplates(cli: CommandLine) {
  const templates = templateSchema.parse(await cli.run('templates list --json'));
  yield {
    title: 'List the templates',
    command: 'esign templates list',
    outcome: templates.map((one) => `${one.id.padEnd(16)} ${one.name}, ${counted(one.pageCount, 'page')}`),
  };
}

async function* createDraft(cli: CommandLine, { url, secretFile }: { url: string; secretFile: string }) {
  const envelope = envelopeSchema.parse(
    await cli.run(
      `envelopes create --template ${TEMPLATE} --webhook-url ${url} --metadata flat=4711 --json`,
      ...['--webhook-secret-file', secretFile, '--subject', 'Your lease for 12 Harbor Street'],
      ...SIGNER_FLAGS,
    ),
  );
  yield {
    title: 'Create a draft for two signers. No emails are sent yet',
    command: command(
      ...['envelopes', 'create', '--template', TEMPLATE],
      ...SIGNER_FLAGS,
      ...['--webhook-url', url],
    ),
    outcome: [`${envelope.id} is ${envelope.status}.`],
  };
  return envelope.id;
}

async function* send(cli: CommandLine, id: string) {
  const envelope = envelopeSchema.parse(await cli.run(`envelopes send ${id} --json`));
  yield {
    title: 'Send it: both get an email with a link',
    command: command('envelopes', 'send', id),
    outcome: [`${envelope.id} is ${envelope.status}.`],
  };
}

async function* sign(cli: CommandLine, id: string, signer: (typeof SIGNERS)[number]) {
  const values = Object.entries(signer.values).flatMap(([field, text]) => ['--value', `${field}=${text}`]);
  const envelope = envelopeSchema.parse(
    await cli.run(`sandbox sign ${id} --signer ${signer.email} --json`, ...values),
  );
  yield {
    title: `${signer.name} reads and signs`,
    command: command('sandbox', 'sign', id, '--signer', signer.email),
    outcome: [`${envelope.id} is ${envelope.status}.`],
  };
}

async function* awaitCompletion(watching: RunningCommand, id: string) {
  const code = await watching.ended();
  if (code !== 0) throw new Error(`envelopes watch exited with code ${code}`);
  yield {
    title: 'Watch the envelope, in parallel with the steps above',
    command: command('envelopes', 'watch', id),
    outcome: ['The command reported COMPLETED and exited with 0.'],
  };
}

async function* collectWebhooks(listener: RunningCommand) {
  const deliveries: { event: string; verified: boolean }[] = [];
  // The events of an envelope are sent in order, so this is the last one.
  while (deliveries.at(-1)?.event !== 'envelope.completed') {
    const delivery = deliverySchema.parse(await listener.line());
    if (delivery.type === 'delivery')
      deliveries.push({ event: delivery.event ?? '?', verified: delivery.verified === true });
  }
  const verified = deliveries.filter((one) => one.verified).length;
  const events = deliveries.map((one) => one.event);
  yield {
    title: 'List the received webhooks',
    command: '',
    outcome: [
      `${counted(deliveries.length, 'webhook')}, ${verified} with a valid signature:`,
      events.join(', '),
    ],
  };
  return { received: deliveries.length, verified, events };
}

async function* download(cli: CommandLine, id: string, folder: string) {
  const lines = await cli.lines(
    `envelopes download ${id} --what signed,certificate,document --json --dir`,
    folder,
  );
  const files = lines
    .map((line) => fileSchema.parse(line))
    .map(({ what, path, bytes, sha256 }) => ({ what, path, bytes, sha256 }));
  yield {
    title: 'Download the documents from the bucket and verify them',
    command: command('envelopes', 'download', id, '--what', 'signed,certificate,document'),
    outcome: files.map((file) => `${file.what.padEnd(11)} ${file.path}`),
  };
  return files;
}
