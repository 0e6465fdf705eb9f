/*
 * The rooms of src, from bottom to top, and what each may import: only rooms above it in this list. `commands/` belong to their room.
 * Every room may import kernel/. Type-only imports count, too.
 */
const ROOMS = {
  tables: [],
  lines: [],
  pages: [],
  standalone: [],
  // Lists become CSV or a workbook.
  output: ['tables'],
  api: [],
  log: ['api', 'lines'],
  // Guards refuse a write before it is logged.
  settings: ['api', 'log'],
  catalog: ['api', 'lines'],
  // Which envelope of a request counts, and that it is sent once.
  once: ['api', 'catalog', 'log'],
  // What a run wanted and did.
  runs: ['lines', 'once'],
  // The frame: session, terminal, prompts, help, completion, exit codes. Completion and hints use the index.
  cli: ['api', 'catalog', 'log', 'output', 'settings'],
  selection: ['api', 'catalog', 'cli', 'output', 'runs'],
  demo: ['cli', 'output'],
  templates: ['api', 'catalog', 'cli', 'output'],
  documents: ['api', 'cli', 'output', 'settings'],
  // A listener downloads the documents of completed envelopes.
  webhooks: ['cli', 'documents', 'lines', 'output', 'pages', 'settings'],
  // Evidence of an envelope contains its documents and its webhooks.
  envelopes: [
    ...['api', 'catalog', 'cli', 'documents', 'log', 'once', 'output', 'pages', 'selection', 'settings'],
    ...['tables', 'webhooks'],
  ],
  client: ['api', 'log', 'once', 'webhooks'],
  // A sandbox that is like a service gets stand-ins of its templates. `sign` and `decline` show envelopes.
  sandbox: ['api', 'catalog', 'cli', 'envelopes', 'lines', 'output', 'pages', 'settings'],
  // Doctor checks the bucket.
  accounts: ['api', 'catalog', 'cli', 'documents', 'output', 'settings'],
  // Replaced envelopes need no attention; received webhooks say who opened an email.
  reports: ['api', 'catalog', 'cli', 'envelopes', 'log', 'output', 'pages', 'runs', 'selection', 'webhooks'],
  bulk: ['api', 'catalog', 'cli', 'envelopes', 'once', 'output', 'runs', 'selection', 'tables'],
  // Assistants do what the commands do.
  assistants: [
    ...['api', 'catalog', 'cli', 'documents', 'envelopes', 'once', 'output', 'reports'],
    ...['selection', 'templates'],
  ],
};
const NAMES = Object.keys(ROOMS);
for (const [room, allowed] of Object.entries(ROOMS))
  for (const other of allowed)
    if (NAMES.indexOf(other) >= NAMES.indexOf(room)) throw new Error(`${room} is below ${other}.`);
const roomRules = Object.entries(ROOMS).map(([room, allowed]) => ({
  name: `${room}-imports-only-rooms-below`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^src/', pathNot: `^src/(${[room, 'kernel', ...allowed].join('|')})/` },
}));
roomRules.push(
  {
    name: 'engines-know-no-terminal',
    comment: 'what a person sees is in commands/',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/(.+/commands|cli|output|selection)/|^src/(commands|program).ts$' },
    to: { path: '^src/((cli|output|selection)|.+/commands)/' },
  },
  {
    name: 'entry-points-are-imported-by-nobody',
    severity: 'error',
    from: { path: '^src/.+/' },
    to: { path: '^src/(commands|program)\\.ts$' },
  },
);
// Packages in the bundle: none is installed with esign-cli (docs/contributing/releases.md). All others are tools.
const bundled = [
  '@aws-sdk/checksums',
  '@aws-sdk/client-s3',
  '@aws-sdk/credential-provider-http',
  '@aws-sdk/credential-provider-ini',
  '@aws-sdk/credential-provider-node',
  '@aws-sdk/s3-request-presigner',
  '@exodus/bytes',
  '@hono/node-server',
  '@inquirer/prompts',
  '@libpdf/core',
  '@modelcontextprotocol/server',
  '@oclif/core',
  '@smithy/core',
  'asn1js',
  'cli-table3',
  'conf',
  'csv-parse',
  'fastest-levenshtein',
  'hono',
  'ora',
  'pkijs',
  'numfmt',
  'sax',
  'string-width',
  'undici',
  'write-excel-file',
  'yaml',
  'yauzl',
  'zod',
];
/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: ['^src/cli/help.ts$', '^src/(sandbox/)?pages/assets/', '\\.d\\.ts$'],
      },
      to: {},
    },
    {
      name: 'kernel-imports-nothing-above',
      severity: 'error',
      from: { path: '^src/kernel/' },
      to: { path: '^src/', pathNot: '^src/kernel/' },
    },
    ...roomRules,
    {
      name: 'client-imports-no-terminal',
      comment: 'commands do not use it, and a program has no terminal',
      severity: 'error',
      from: { path: '^src/client/' },
      to: {
        path: '^src/',
        pathNot: '^src/(client|once|catalog|webhooks/receive|log|api|kernel)/',
      },
    },
    {
      name: 'standalone-imports-no-program',
      comment: 'the executable runs the bundle; the bundle does not import it',
      severity: 'error',
      from: { path: '^src/standalone/' },
      to: { path: '^src/', pathNot: '^src/(standalone|kernel|cli/boot/installation.ts)' },
    },
    {
      name: 'sandbox-imports-nothing-of-the-client',
      severity: 'error',
      from: { path: '^src/sandbox/', pathNot: '^src/sandbox/commands/' },
      to: { path: '^src/', pathNot: '^src/(sandbox|lines|pages|kernel)/' },
    },
    {
      name: 'sandbox-has-one-entry-point',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/sandbox/(?!commands/)' },
      to: {
        path: '^src/sandbox/',
        pathNot: '^src/sandbox/(commands/|(index|embed(-model|-options)?).ts$)',
      },
    },
    {
      name: 'one-http-layer',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/api/connection/(dispatcher|undici|undici-parts.d).ts$' },
      to: { path: 'node_modules/undici' },
    },
    {
      name: 'one-page-template',
      comment: 'pages/html.ts also makes characters visible that hide or reorder text',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: 'node_modules/hono/dist/helper/html' },
    },
    {
      name: 'one-bucket-client',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: '^src/documents/bucket/(connection|credentials|requests|s3-sdk).ts$',
      },
      to: { path: 'node_modules/@aws-sdk/(?!checksums/)' },
    },
    {
      name: 'only-bundled-packages',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^node_modules/', pathNot: `^node_modules/(${bundled.join('|')})/` },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
