import { describe, expect, it } from 'vitest';
import { renderCheck, renderVerdict } from '../../src/accounts/commands/doctor.ts';
import { publicProfile, publicSettings } from '../../src/accounts/commands/profile-json.ts';
import { profileList } from '../../src/accounts/commands/profile-table.ts';
import { renderProfile, renderSettings } from '../../src/accounts/commands/profile-text.ts';
import type { Envelope, Template } from '../../src/api/resource-types.ts';
import { RUN_LIST } from '../../src/bulk/commands/list.ts';
import { attentionText } from '../../src/bulk/commands/status-attention.ts';
import type { SignerLine } from '../../src/bulk/status/signer-lines.ts';
import type { NextStepsTerminal } from '../../src/cli/terminal.ts';
import { renderVerified } from '../../src/documents/commands/download-lines.ts';
import { envelopeList } from '../../src/envelopes/commands/envelope-table.ts';
import { renderEnvelope } from '../../src/envelopes/commands/envelope-text.ts';
import { renderHistory } from '../../src/envelopes/commands/get-history.ts';
import { WatchTable } from '../../src/envelopes/commands/watch/watch-table.ts';
import { command } from '../../src/kernel/text/shell-words.ts';
import type { LogEntry } from '../../src/log/shown-entry.ts';
import { type ListView, writeList } from '../../src/output/print-list.ts';
import { widthOf } from '../../src/output/text.ts';
import { logList } from '../../src/reports/commands/log.ts';
import type { RunSummary } from '../../src/runs/run-list.ts';
import { renderSandbox } from '../../src/sandbox/commands/start.ts';
import { argumentsOfRun } from '../../src/selection/selected-run.ts';
import { combineGuards } from '../../src/settings/guards/guards.ts';
import { templateList } from '../../src/templates/commands/template-table.ts';
import { renderTemplate } from '../../src/templates/commands/template-text.ts';
import { eventJson } from '../../src/webhooks/commands/event-json.ts';
import { eventList } from '../../src/webhooks/commands/event-table.ts';
import { renderEvent } from '../../src/webhooks/commands/event-text.ts';
import type { EventRecord } from '../../src/webhooks/journal/record.ts';

const now = Date.UTC(2026, 10, 21, 9);
const signers = [
  {
    id: 'signer_1',
    email: 'lukasz@example.com',
    name: 'Łukasz Řehoř',
    role: 'Landlord',
    order: 1,
    status: 'SIGNED',
    signedAt: '2026-11-20T09:00:00Z',
  },
  { id: 'signer_2', email: 'li@example.com', name: '李小龍', role: 'Tenant', order: 2, status: 'VIEWED' },
  {
    id: 'signer_3',
    email: 'a.very.long.address.of.somebody@department.subsidiary.example.com',
    name: 'Maximiliane von und zu Hohenstein-Wittelsbach',
    role: 'Guarantor',
    order: 3,
    status: 'PENDING',
  },
];
const folder = 'esign/envelopes/org_3b1599fb9c07d6769744/env_085994b08deaa0744d20';
const envelope: Envelope = {
  id: 'env_085994b08deaa0744d20',
  templateId: 'tmpl_lease',
  templateName: 'Residential lease',
  status: 'IN_PROGRESS',
  signingOrder: 'SEQUENTIAL',
  subject: 'Please sign: the lease of 4 Privet Drive',
  message: 'Dear all,\nplease sign the lease by Friday. The keys are handed over on the first of next month.',
  signers,
  metadata: { esignRequestId: '15958850-a7f0-4802-9042-a40dac5792ad', deal: 4711 },
  webhookUrl: 'https://hooks.example.com/services/esign/production/webhooks',
  createdAt: '2026-11-18T09:00:00Z',
  sentAt: '2026-11-18T09:00:05Z',
  expiresAt: '2026-12-18T09:00:00Z',
  completedAt: null,
  documentStorageKey: `${folder}/document.pdf`,
  signedDocumentStorageKey: null,
};
const others: Envelope[] = [
  { ...envelope, id: 'env_1', status: 'DRAFT', sentAt: null, signers: signers.slice(1, 2) },
  {
    ...envelope,
    id: 'env_2',
    status: 'COMPLETED',
    completedAt: '2026-11-19T10:00:00Z',
    signers: signers.slice(0, 1),
    signedDocumentStorageKey: `${folder}/signed.pdf`,
    certificateStorageKey: `${folder}/certificate.pdf`,
  },
  {
    ...envelope,
    id: 'env_3',
    status: 'DECLINED',
    signers: [{ ...signers[1], status: 'DECLINED', declineReason: 'the rent is wrong\u001b[31m' }],
  },
  { id: 'env_4', status: 'ARCHIVING' },
];
/** Many similar envelopes: can they be distinguished? */
const contracts: Envelope[] = [1377, 1378, 1379].map((number, index) => ({
  ...envelope,
  id: `env_085994b08deaa0744d2${index}`,
  status: ['SENT', 'COMPLETED', 'EXPIRED'][index],
  subject: `Please sign: Contract ${number}`,
  expiresAt: '2026-11-19T09:00:00Z',
  completedAt: index === 1 ? '2026-11-18T09:30:00Z' : null,
  signers: [
    { name: 'Bo Brontë', email: 'bo@example.com', status: 'SENT', order: 1 },
    { name: 'Ada Lovelace', email: 'ada@example.com', status: index === 0 ? 'SIGNED' : 'SENT', order: 2 },
  ],
}));
const template: Template = {
  id: 'tmpl_lease',
  name: 'Residential lease',
  description:
    'A lease on four pages with an inventory. Two roles: Landlord and Tenant, who sign in any order.',
  pageCount: 4,
  fields: [
    { fieldId: 'lease_rent', type: 'TEXT', label: 'Monthly rent in words', required: true, page: 1 },
    { fieldId: 'lease_signature', type: 'SIGNATURE', label: 'Signature', required: true, page: 4 },
    { fieldId: 'lease_pets', type: 'CHECKBOX', label: 'Pets are allowed', required: false, page: 4 },
  ],
  updatedAt: '2025-03-03T09:00:00Z',
};
const run: RunSummary = {
  id: 'run-20261121-075034145-20cb05fc',
  file: 'leases-of-the-whole-quarter.csv',
  createdAt: '2026-11-21T07:50:34.192Z',
  state: 'interrupted',
  continuedBy: null,
  total: 10_000,
  done: 7_412,
  failed: 1,
};
const record: EventRecord = {
  deliveryId: 'dlv_b697fcd16fcaddec2e',
  id: 'ea10f21364b87e95ca732429fdee69c3b71653ab54bb91d5e1c7de87b0860421',
  receivedAt: '2026-11-21T08:50:30.436Z',
  event: 'envelope.completed',
  envelopeId: envelope.id,
  status: 'COMPLETED',
  signer: null,
  verified: false,
  duplicate: false,
  reason: 'the signature was made with another secret',
  answer: 401,
  headers: [
    ['content-type', 'application/json'],
    ['X-Service-Signature', '8dfd73b4e0d2a6c049c058af156c4349dedaa030fd011e9c3d9d039caca46848'],
  ],
  bodyBase64: Buffer.from('{"event":"envelope.completed","data":{"envelopeId":"env_1"}}').toString('base64'),
  bytes: 60,
};
const profile = {
  name: 'acme',
  current: true,
  profile: {
    baseUrl: 'https://api.example.com/api/v1',
    apiKey: 'esk_0123456789abcdef',
    storage: { bucket: 'contracts', region: 'eu-central-1', endpoint: 'https://minio.example.com:9000' },
    guards: { readOnly: true, onlyTo: ['*@example.com'], maxEmails: 20 },
  },
};
const settings = publicSettings(
  {
    profileName: { value: 'acme', source: 'default' },
    profile: profile.profile,
    baseUrl: { value: profile.profile.baseUrl, source: 'profile' },
    apiKey: { value: profile.profile.apiKey, source: 'environment', kind: 'key' },
    timeoutMs: { value: 30_000, source: 'default' },
    storage: profile.profile.storage,
    storageSource: 'profile',
  },
  combineGuards(
    { readOnly: true, onlyTo: ['*@example.com'], maxEmails: 20 },
    { state: 'set', path: '/etc/esign/policy.json', policy: { maxEmails: 5, confirmName: true } },
  ),
  '/home/ada/.config/esign/profiles.json',
);
const entry: LogEntry = {
  id: 'write_1',
  at: '2026-11-21T08:59:00Z',
  user: 'ada.lovelace',
  profile: 'acme',
  baseUrl: profile.profile.baseUrl,
  command: 'envelopes create',
  effect: 'writes',
  requestId: 'order-4711',
  envelopeIds: ['env_085994b08deaa0744d20'],
  outcome: 'done',
  error: null,
};
const waitingLine: SignerLine = {
  row: 1,
  line: 2,
  requestId: null,
  envelopeId: 'env_085994b08deaa0744d20',
  envelopeStatus: 'SENT',
  state: 'waiting',
  name: 'Annegret Freifrau zu Hohenlohe und Hubert Graf von Wolfenbüttel',
  email: 'hubert@example.com',
  role: 'Tenant',
  sentAt: '2026-11-20T08:00:00Z',
  signedAt: null,
  waitingSince: '2026-11-20T08:00:00Z',
  error: null,
};

function terminalOf(columns: number): NextStepsTerminal & { written: string } {
  const terminal = {
    written: '',
    outIsTty: true,
    errIsTty: false,
    still: false,
    canAsk: false,
    canAskPastStdin: false,
    columns,
    out: (text: string | Uint8Array) => {
      terminal.written += String(text);
      return Promise.resolve();
    },
    err: () => undefined,
    style: (_: unknown, text: string) => text,
    styleErr: (_: unknown, text: string) => text,
    account: { flags: [] },
    command,
  };
  return terminal;
}

async function listed<T>(items: T[], view: ListView<T>, columns: number): Promise<string> {
  const terminal = terminalOf(columns);
  await writeList(items, view, {}, terminal);
  return terminal.written;
}

function watched(columns: number): string {
  const table = new WatchTable([envelope.id, ...others.map(({ id }) => id)], 'Watching 5 envelopes');
  for (const one of [envelope, ...others])
    table.take({
      at: '2026-11-21T08:59:00Z',
      envelopeId: one.id,
      from: null,
      to: one.status ?? '',
      signer: null,
      envelope: one,
    });
  return table.final(terminalOf(columns), 24, now);
}

/** Every table and every detail view, by the name of its golden file. */
const VIEWS: Readonly<Record<string, (columns: number) => string | Promise<string>>> = {
  'envelope-list': (columns) =>
    listed(
      [envelope, ...others],
      envelopeList(() => now),
      columns,
    ),
  'envelope-found': (columns) =>
    listed(
      contracts,
      envelopeList(() => now, { selection: { words: ['ada'] } }),
      columns,
    ),
  envelope: (columns) =>
    [envelope, ...others].map((one) => renderEnvelope(one, terminalOf(columns), now)).join('\n'),
  'envelope-watch': watched,
  'template-list': (columns) =>
    listed(
      [template],
      templateList(() => now),
      columns,
    ),
  template: (columns) =>
    renderTemplate(template, { names: ['Landlord', 'Tenant'], inferred: true }, true, terminalOf(columns)),
  log: (columns) =>
    listed(
      [
        entry,
        {
          ...entry,
          profile: 'sandbox',
          command: 'envelopes cancel',
          reason: 'The tenant has found another flat, and asks us to take the lease back',
        },
      ],
      logList(now),
      columns,
    ),
  'run-attention': (columns) =>
    attentionText([waitingLine], argumentsOfRun('run-1'), terminalOf(columns), now),
  verified: (columns) =>
    (['ok', 'unlisted'] as const)
      .map((list) => ({ path: `${list}.txt`, sha256: 'a4f4c3', list, seal: null, error: null }))
      .map((file) => renderVerified(file, terminalOf(columns)))
      .join(''),
  'run-list': (columns) => listed([run, { ...run, state: 'finished' }], RUN_LIST, columns),
  'event-list': (columns) => listed([eventJson(record)], eventList(now), columns),
  event: (columns) => renderEvent(record, terminalOf(columns)),
  history: (columns) =>
    renderHistory(
      { ...envelope, signers: signers.slice(0, 1) },
      {
        received: {
          refused: 0,
          accepted: [
            {
              at: '2026-11-20T09:00:00Z',
              receivedAt: '2026-11-20T09:00:01Z',
              event: 'envelope.signed',
              status: 'IN_PROGRESS',
              signer: 'a.very.long.address.of.somebody@department.subsidiary.example.com',
              verified: false,
              deliveryId: record.deliveryId,
            },
          ],
        },
      },
      terminalOf(columns),
      now,
    ),
  'profile-list': (columns) => listed([publicProfile(profile)], profileList, columns),
  profile: (columns) => renderProfile(profile, terminalOf(columns)),
  settings: (columns) => renderSettings(settings, terminalOf(columns)),
  doctor: (columns) => {
    const checks = [
      { name: 'node', status: 'ok', message: 'v20.19.0', fix: null },
      {
        name: 'config',
        status: 'warning',
        message: '/home/ada/.config/esign can be read by others',
        fix: 'chmod 700 /home/ada/.config/esign',
      },
      {
        name: 'key-accepted',
        status: 'failed',
        message: 'The service refused the key: Invalid API key (UNAUTHORIZED), as it says itself',
        fix: 'The key is wrong, revoked, or expired. To see which key is used, run `esign profiles show`.',
      },
      { name: 'bucket', status: 'skipped', message: 'no bucket is set', fix: null },
    ] as const;
    const terminal = terminalOf(columns);
    return checks.map((check) => renderCheck(check, terminal)).join('') + renderVerdict(checks, terminal);
  },
  'sandbox-started': (columns) =>
    renderSandbox(
      {
        baseUrl: 'http://127.0.0.1:4010/api/v1',
        apiKey: 'esk_0123456789abcdef',
        endpoint: 'http://127.0.0.1:5010',
        bucket: 'esign-sandbox',
        dashboardUrl: 'http://127.0.0.1:4010/',
        dataDir: '/home/ada/.local/state/esign/sandbox/4010',
      },
      { current: 'sandbox' },
      terminalOf(columns),
    ),
};

describe.each(Object.entries(VIEWS))('%s', (name, view) => {
  it('matches its golden file on a terminal with 80 columns', async () => {
    await expect(await view(80)).toMatchFileSnapshot(`golden/${name}.txt`);
  });

  it.each([60, 80, 120])('fits %i columns', async (columns) => {
    const text = await view(columns);
    // Commands and single words for copying, such as an address or a header with its value, are not wrapped, so only they may be wider.
    const isForCopying = (line: string) => /^\s*(?:(?:esign|Resume:).*|(?:\S+ {2,})?\S+)$/.test(line);
    const tooWide = text.split('\n').filter((line) => widthOf(line) > columns && !isForCopying(line));
    expect(tooWide).toEqual([]);
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });
});

it('shows all of a detail view at any width', async () => {
  // A backslash continues a command on the next line.
  const words = async (columns: number) => (await VIEWS.envelope?.(columns))?.replaceAll(/[\s\\]+/g, '');
  expect(await words(60)).toBe(await words(1_000));
});
