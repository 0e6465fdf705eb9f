/** What a word means here that newcomers type, or two words after `esign`. */
export interface Meaning {
  /** The command that does it, with placeholders for its arguments. */
  command?: string;
  /** The command if no arguments were given. */
  alone?: string;
  /** What to do, if no command does it. */
  advice?: string;
}

/** A word for an envelope may also follow `envelopes`. */
const WORDS: readonly (readonly [words: string, meaning: string | Meaning])[] = [
  // Envelopes
  ['all, inbox, outbox, sent', 'envelopes list'],
  ['pending, unsigned', 'envelopes list --status open'],
  ['overdue, waiting, stuck', 'late'],
  ['status, state, progress', { command: 'envelopes get ID', alone: 'report' }],
  [
    'view, read, see, seen, open, check, info, describe, inspect, track',
    { command: 'envelopes get ID', alone: 'envelopes list' },
  ],
  ['history, timeline', { command: 'envelopes get ID --history', alone: 'log' }],
  ['wait, follow', 'envelopes watch ID'],
  ['pull, pdf, pdfs, save', { command: 'envelopes download ID', alone: 'envelopes download --all' }],
  ['proof, certificate, dispute', 'envelopes evidence ID --dir DIR'],
  ['new, add, create, make, draft, compose', 'envelopes create'],
  ['send, email', { command: 'envelopes send ID', alone: 'envelopes create --send' }],
  ['edit, update, fix, correct, change, replace, modify', 'envelopes replace ID'],
  ['remind, resend, nudge, chase, reminder', { command: 'envelopes remind ID', alone: 'late' }],
  ['cancel, void, delete, remove, rm, revoke, recall, withdraw', 'envelopes cancel ID'],
  ['stats, stat, statistics, summary, metrics, analytics', 'report'],
  ['lookup, who, grep, query, people, contacts, signers, recipients', 'find TEXT'],
  [
    'sign',
    {
      advice:
        'Signers sign on the page that their email links to. In the sandbox, run `esign sandbox sign ID`.',
    },
  ],
  [
    'decline',
    {
      advice:
        'Signers decline on the page that their email links to. In the sandbox, run `esign sandbox decline ID --reason TEXT`.',
    },
  ],
  [
    'undo',
    {
      advice:
        'An email that was sent stays sent. To see what was sent, run `esign log`; to cancel an envelope, run `esign envelopes cancel ID`.',
    },
  ],
  ['envelopes verify', { advice: 'To get its PDFs and check them, run `esign envelopes download ID`.' }],
  // Lists
  ['import, csv, excel, batch, mass', 'bulk create FILE'],
  ['bulk import, bulk new, bulk run, bulk upload', 'bulk create FILE'],
  ['bulk send', 'bulk create FILE --send'],
  ['bulk check, bulk validate, bulk preview, bulk test', 'bulk create FILE --dry-run'],
  ['bulk retry, bulk continue', 'bulk resume'],
  ['bulk get, bulk show, bulk progress', 'bulk status'],
  ['bulk download, bulk results, bulk report', 'bulk export'],
  [
    'bulk cancel, bulk stop, bulk undo, bulk delete',
    { command: 'envelopes cancel --run RUN', alone: 'envelopes cancel --run last' },
  ],
  ['bulk remind', { command: 'envelopes remind --run RUN', alone: 'envelopes remind --run last' }],
  ['bulk watch', { command: 'envelopes watch --run RUN', alone: 'envelopes watch --run last' }],
  ['bulk late', { command: 'late --run RUN', alone: 'late --run last' }],
  // Templates and documents
  ['fields, roles', 'templates get ID'],
  [
    'upload, documents upload, templates upload, templates create, templates new, templates add, templates edit, templates delete',
    {
      advice:
        "Documents become templates in the service's dashboard, not here. To see the templates, run `esign templates list`.",
    },
  ],
  [
    'documents list, documents find, documents show',
    {
      advice:
        'Completed envelopes have the documents: `esign envelopes list --status COMPLETED` lists them, and `esign envelopes download ID` gets the PDFs.',
    },
  ],
  ['verify, validate, seal, documents check, documents validate', 'documents verify FILE'],
  ['documents get, documents pull', 'documents download KEY'],
  ['link, url, share', 'documents link ID'],
  // Webhooks
  ['webhook, webhooks, hooks, tunnel, forward', 'listen'],
  ['webhooks listen, webhooks start, webhooks forward, events listen, events watch, events tail', 'listen'],
  ['webhooks list, webhooks history', 'events list'],
  ['webhooks show, webhooks get', 'events show ID'],
  ['webhooks test, events test', 'events drill --to URL'],
  ['webhooks trigger, webhooks send, events send', 'events trigger EVENT --to URL'],
  ['webhooks replay, webhooks resend, events resend, events retry', 'events replay ID --to URL'],
  // Accounts
  ['init, auth, setup, configure, account, accounts, key, apikey, token, register, connect', 'profiles add'],
  ['auth login, config add, profiles new, profiles create, profiles login', 'profiles add'],
  ['logout, auth logout, profiles delete, profiles logout, profiles rm', 'profiles remove NAME'],
  ['switch, use, profiles switch, profiles select, profiles default, profiles set', 'profiles use NAME'],
  ['config set, profiles update, profiles change, profiles rotate', 'profiles edit NAME'],
  ['config, settings, me, auth status, config show, config get', 'profiles show'],
  ['profiles current, profiles whoami', 'profiles show'],
  ['config list', 'profiles list'],
  [
    'user, users, team, members',
    {
      advice:
        "Users are managed in the service's dashboard. To see the account in use, run `esign profiles show`.",
    },
  ],
  // The rest
  ['test, health, ping, diagnose, diagnostics', 'doctor'],
  ['quickstart, tour, tutorial, example, examples, try', 'demo'],
  ['mail, mails, emails, mailbox, sandbox mail, sandbox emails, sandbox inbox', 'sandbox mails'],
  ['serve, server, mock, sandbox run, sandbox up, sandbox create', 'sandbox start'],
  ['sandbox clear, sandbox clean, sandbox delete', 'sandbox reset'],
  ['sandbox time, sandbox clock, sandbox wait, sandbox forward', 'sandbox advance TIME'],
  [
    'stop, sandbox stop, sandbox quit, sandbox kill',
    { advice: 'Press Ctrl-C where the command is running, such as `esign sandbox start` or `esign listen`.' },
  ],
  [
    'sandbox status, sandbox info, sandbox list, sandbox show, sandbox open',
    {
      advice:
        "The sandbox's web page shows its envelopes and emails; `esign sandbox start` prints its URL. To check whether it runs, run `esign doctor --profile sandbox`.",
    },
  ],
  ['logs, activity, audit', 'log'],
  ['curl, request, raw, call', 'api METHOD PATH'],
  ['ai, assistant, agent', 'mcp'],
  ['completion, completions', 'autocomplete'],
  [
    'docs, documentation, manual, man, guide, topics',
    {
      advice:
        'Every command has help with examples, such as `esign envelopes create --help`. Topics: `esign help flags`, `esign help filters`, `esign help environment`, `esign help exit-codes`.',
    },
  ],
  ['upgrade', { advice: 'esign never updates itself. Install a newer version as you installed this one.' }],
];

/** Meanings by the words that people type. */
export const MEANINGS: ReadonlyMap<string, Meaning> = new Map(
  WORDS.flatMap(([words, meaning]) =>
    words
      .split(', ')
      .map((word): [string, Meaning] => [word, typeof meaning === 'string' ? { command: meaning } : meaning]),
  ),
);
