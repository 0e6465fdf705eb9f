/*
 * The folders of src and what each may import, from bottom to top. Every folder may import kernel/. Type-only imports count, too.
 * Engines know nothing of terminals: only commands/, cli/, and session/ import output/ and each other.
 */
const ENGINES = {
  journal: [],
  tables: [],
  pages: [],
  demo: [],
  assistants: [],
  standalone: [],
  api: [],
  documents: ['api'],
  // A sandbox that is like a service gets stand-ins of its templates.
  templates: ['api', 'sandbox'],
  // `control/` calls a running sandbox like any service; the sandbox itself imports neither (sandbox-imports-nothing-of-the-client).
  sandbox: ['api', 'journal', 'pages'],
  webhooks: ['journal', 'pages'],
  log: ['api'],
  // Guards refuse a write before it is logged.
  profiles: ['api', 'log'],
  catalog: ['api', 'journal'],
  // Which envelope of a request counts, and that it is sent once.
  once: ['api', 'catalog', 'log'],
  // Evidence of an envelope contains its documents and its webhooks.
  envelopes: ['api', 'catalog', 'documents', 'log', 'once', 'webhooks'],
  // Replaced envelopes need no attention; received webhooks say who opened an email.
  reports: ['api', 'catalog', 'envelopes', 'webhooks'],
  bulk: ['api', 'catalog', 'envelopes', 'journal', 'log', 'once', 'tables', 'templates'],
  client: ['api', 'envelopes', 'log', 'once', 'webhooks'],
};
/** The folders above all engines. */
const FRAME = {
  // The composition root. From cli/, it imports only what does not import it: terminal, prompts, trace.
  session: [...Object.keys(ENGINES), 'output', 'cli'],
  cli: ['api', 'catalog', 'output', 'profiles', 'session'],
  // Lists become CSV or a workbook.
  output: ['tables'],
};
/** Commands import every engine, cli/, session/, and output/. These also use parts of other folders' commands. */
const COMMANDS = {
  // What a lost response means.
  api: ['envelopes'],
  // Assistants do what the commands do.
  assistants: ['catalog', 'documents', 'envelopes', 'reports', 'templates'],
  bulk: ['catalog'],
  // `find` shows envelopes; `--run` selects those of a run.
  catalog: ['bulk', 'envelopes'],
  // `--run`, filters, and the downloads of completed envelopes.
  envelopes: ['bulk', 'catalog', 'documents'],
  reports: ['catalog'],
  sandbox: ['envelopes'],
  webhooks: ['documents'],
};
const foldersOf = (folders) => `^src/(${folders.join('|')})/`;
const engineRules = Object.entries({ ...ENGINES, ...FRAME }).map(([folder, allowed]) => ({
  name: `${folder}-imports-only-folders-below`,
  severity: 'error',
  from: { path: `^src/${folder}/`, pathNot: `^src/${folder}/commands/` },
  to: { path: '^src/', pathNot: `${foldersOf([folder, 'kernel', ...allowed])}(?!commands/)` },
}));
const commandRules = Object.keys(ENGINES).map((folder) => ({
  name: `${folder}-commands-use-no-other-commands`,
  severity: 'error',
  from: { path: `^src/${folder}/commands/` },
  to: { path: `^src/(?!(${[folder, ...(COMMANDS[folder] ?? [])].join('|')})/)[^/]+/commands/` },
}));
commandRules.push({
  name: 'commands-import-no-entry-point',
  severity: 'error',
  from: { path: '^src/.+/' },
  to: { path: '^src/(commands|program)\\.ts$' },
});
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
    ...engineRules,
    ...commandRules,
    {
      name: 'client-imports-no-terminal',
      comment: 'commands do not use it, and a program has no terminal',
      severity: 'error',
      from: { path: '^src/client/' },
      to: { path: '^src/', pathNot: '^src/(client|envelopes|once|catalog|webhooks/receive|log|api|kernel)/' },
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
      from: { path: '^src/sandbox/', pathNot: '^src/sandbox/(commands|control)/' },
      to: { path: '^src/', pathNot: '^src/(sandbox|journal|pages|kernel)/' },
    },
    {
      name: 'sandbox-has-one-entry-point',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/sandbox/(?!commands/)' },
      to: {
        path: '^src/sandbox/',
        pathNot: '^src/sandbox/(commands/|control/|(index|embed(-model|-options)?).ts$)',
      },
    },
    {
      name: 'one-http-layer',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/api/(dispatcher|undici|undici-parts.d).ts$' },
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
