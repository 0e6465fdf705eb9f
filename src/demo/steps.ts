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

const sandboxSchema = z.object({ baseUrl: z.string(), dashboardUrl: z.string() });
const listenerSchema = z.object({ url: z.string() });
const templatesSchema = z.array(z.object({ id: z.string(), name: z.string(), pageCount: z.number() }));
const envelopeSchema = z.object({ id: z.string(), status: z.string() });
const deliverySchema = z.object({
  type: z.string(),
  event: z.optional(z.nullable(z.string())),
  verified: z.optional(z.boolean()),
});
const filesSchema = z.array(
  z.object({ what: z.string(), path: z.string(), bytes: z.number(), sha256: z.string() }),
);

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
  const start: CommandLine['start'] = (...words) => {
    const process = cli.start(...words);
    running.push(process);
    return process;
  };
  try {
    const sandbox = sandboxSchema.parse(await start('sandbox start --ephemeral --port 0 --json').line());
    yield {
      title: 'Start the complete service on this machine',
      command: 'esign sandbox start --ephemeral',
      outcome: [`The API is at ${sandbox.baseUrl}, with a bucket for documents.`],
    };

    const secretFile = join(own, 'webhook.secret');
    await writeFile(secretFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
    const listener = start('listen --port 0 --json --secret-file', secretFile);
    const { url } = listenerSchema.parse(await listener.line());
    yield {
      title: 'Start a webhook receiver that accepts only valid signatures',
      command: 'esign listen --secret-file webhook.secret',
      outcome: [`The receiver listens at ${url}.`],
    };

    const templates = templatesSchema.parse(await cli.run('templates list --json'));
    yield {
      title: 'List the templates',
      command: 'esign templates list',
      outcome: templates.map((one) => `${one.id.padEnd(16)} ${one.name}, ${counted(one.pageCount, 'page')}`),
    };

    const created = await cli.run(
      `envelopes create --template ${TEMPLATE} --webhook-url ${url} --metadata flat=4711 --json`,
      ...['--webhook-secret-file', secretFile, '--subject', 'Your lease for 12 Harbor Street'],
      ...SIGNER_FLAGS,
    );
    const { id } = envelopeSchema.parse(created);
    yield {
      title: 'Create a draft for two signers. No emails are sent yet',
      command: command('envelopes', 'create', '--template', TEMPLATE, ...SIGNER_FLAGS, '--webhook-url', url),
      outcome: statusOf(created),
    };

    yield {
      title: 'Send it: both get an email with a link',
      command: command('envelopes', 'send', id),
      outcome: statusOf(await cli.run(`envelopes send ${id} --json`)),
    };

    const watching = start(`envelopes watch ${id} --interval 300ms --timeout 60s --json`);
    for (const { name, email, values } of SIGNERS) {
      const filled = Object.entries(values).flatMap(([field, text]) => ['--value', `${field}=${text}`]);
      yield {
        title: `${name} reads and signs`,
        command: command('sandbox', 'sign', id, '--signer', email),
        outcome: statusOf(await cli.run(`sandbox sign ${id} --signer ${email} --json`, ...filled)),
      };
    }

    const code = await watching.ended();
    if (code !== 0) throw new Error(`envelopes watch exited with code ${String(code)}`);
    yield {
      title: 'Watch the envelope, in parallel with the steps above',
      command: command('envelopes', 'watch', id),
      outcome: ['The command reported COMPLETED and exited with 0.'],
    };

    const webhooks = await receivedBy(listener);
    yield {
      title: 'List the received webhooks',
      command: '',
      outcome: [
        `${counted(webhooks.received, 'webhook')}, ${webhooks.verified} with a valid signature:`,
        webhooks.events.join(', '),
      ],
    };

    const what = ['--what', 'signed,certificate,document'];
    const files = filesSchema.parse(
      await cli.lines(`envelopes download ${id} --json`, ...what, '--dir', folder),
    );
    yield {
      title: 'Download the documents from the bucket and verify them',
      command: command('envelopes', 'download', id, ...what),
      outcome: files.map((file) => `${file.what.padEnd(11)} ${file.path}`),
    };

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

function statusOf(output: unknown): string[] {
  const { id, status } = envelopeSchema.parse(output);
  return [`${id} is ${status}.`];
}

/** Returns the webhooks up to `envelope.completed`, which is the last one because the events of an envelope are sent in order. */
async function receivedBy(listener: RunningCommand): Promise<DemoSummary['webhooks']> {
  const events: string[] = [];
  let verified = 0;
  while (events.at(-1) !== 'envelope.completed') {
    const delivery = deliverySchema.parse(await listener.line());
    if (delivery.type !== 'delivery') continue;
    events.push(delivery.event ?? '?');
    if (delivery.verified === true) verified += 1;
  }
  return { received: events.length, verified, events };
}
