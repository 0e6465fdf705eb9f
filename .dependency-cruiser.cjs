const { readdirSync } = require('node:fs');
const { join } = require('node:path');

// A file imports only from layers below its own. Type-only imports count, too.
const capabilities = [
  'bulk',
  'completion',
  'demo',
  'doctor',
  'documents',
  'envelope-index',
  'envelopes',
  'evidence',
  'guards',
  'profiles',
  'sandbox-control',
  'statistics',
  'tables',
  'templates',
  'webhooks',
];
// Allowed imports between capabilities. Bulk runs read files of rows, send envelopes, and check template roles; the doctor checks the
// settings and guards a command would use; evidence combines documents, webhooks, reminders, and the log; guards check the settings of a
// profile and record writes in the log; the index answers selections of envelopes and feeds completion; statistics measure envelopes, and
// the index supplies them.
const arrows = {
  bulk: ['envelopes', 'tables', 'templates'],
  completion: ['envelope-index'],
  doctor: ['guards', 'profiles'],
  'envelope-index': ['envelopes'],
  evidence: ['documents', 'envelopes', 'webhooks'],
  guards: ['profiles'],
  statistics: ['envelope-index', 'envelopes', 'webhooks'],
};
// Topics of src/commands/ that may use another topic's shared parts. Completed envelopes and evidence download documents; `listen` can wait
// like a watch; `find` shows envelopes; the MCP server queries all of them; the sandbox shows signers and deliveries.
const topicArrows = {
  envelopes: ['documents'],
  find: ['envelopes'],
  listen: ['documents', 'envelopes', 'events'],
  mcp: ['documents', 'envelopes', 'late', 'report'],
  sandbox: ['envelopes', 'events'],
};
const topics = readdirSync(join(__dirname, 'src/commands'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
// Packages in the bundle: none is installed with esign-cli (docs/contributing/releases.md). All others are tools.
const bundled = [
  '@aws-sdk/client-s3',
  '@aws-sdk/credential-provider-ini',
  '@aws-sdk/s3-request-presigner',
  '@exodus/bytes',
  '@hono/node-server',
  '@inquirer/prompts',
  '@libpdf/core',
  '@modelcontextprotocol/server',
  '@oclif/core',
  'asn1js',
  'bidi-js',
  'cli-table3',
  'conf',
  'csv-parse',
  'csv-stringify',
  'fastest-levenshtein',
  'harfbuzzjs',
  'hono',
  'ora',
  'pkijs',
  'numfmt',
  'sax',
  'string-width',
  'undici',
  'yaml',
  'yauzl',
  'zod',
];
const above = '^src/(commands|cli|client|output|standalone)/';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: ['^src/commands/', '^src/cli/help.ts$', '^src/sandbox/pages/assets/', '\\.d\\.ts$'],
      },
      to: {},
    },
    {
      name: 'kernel-imports-nothing-above',
      severity: 'error',
      from: { path: '^src/kernel/' },
      to: { path: '^src/', pathNot: '^src/kernel/' },
    },
    {
      name: 'api-imports-kernel-only',
      severity: 'error',
      from: { path: '^src/api/' },
      to: { path: '^src/', pathNot: '^src/(api|kernel)/' },
    },
    {
      name: 'journal-imports-kernel-only',
      severity: 'error',
      from: { path: '^src/journal/' },
      to: { path: '^src/', pathNot: '^src/(journal|kernel)/' },
    },
    {
      name: 'log-imports-api-and-kernel-only',
      severity: 'error',
      from: { path: '^src/log/' },
      to: { path: '^src/', pathNot: '^src/(log|api|kernel)/' },
    },
    {
      name: 'capabilities-import-no-terminal',
      severity: 'error',
      from: { path: `^src/(${capabilities.join('|')})/` },
      to: { path: above },
    },
    ...capabilities.map((name) => ({
      name: `${name}-imports-no-other-capability`,
      severity: 'error',
      from: { path: `^src/${name}/` },
      to: {
        path: `^src/(${capabilities.filter((other) => other !== name && !arrows[name]?.includes(other)).join('|')})/`,
      },
    })),
    {
      name: 'output-imports-kernel-only',
      comment: 'tables, lists, and progress for any topic; a view of one topic is in src/commands/<topic>/',
      severity: 'error',
      from: { path: '^src/output/' },
      to: { path: '^src/', pathNot: '^src/(output|kernel)/' },
    },
    ...topics.map((name) => ({
      name: `commands-${name}-imports-no-other-topic`,
      severity: 'error',
      from: { path: `^src/commands/${name}/` },
      to: {
        path: `^src/commands/(${topics.filter((other) => other !== name && !topicArrows[name]?.includes(other)).join('|')})/`,
      },
    })),
    {
      name: 'cli-imports-no-command',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: '^src/commands/' },
    },
    {
      name: 'client-imports-no-terminal',
      comment: 'commands do not use it, and a program has no terminal',
      severity: 'error',
      from: { path: '^src/client/' },
      to: { path: '^src/', pathNot: '^src/(client|envelopes|webhooks/receive|log|api|kernel)/' },
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
      from: { path: '^src/sandbox/' },
      to: { path: '^src/', pathNot: '^src/(sandbox|journal|kernel)/' },
    },
    {
      name: 'sandbox-has-one-entry-point',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/sandbox/' },
      to: { path: '^src/sandbox/', pathNot: '^src/sandbox/(index|embed(-model|-options)?).ts$' },
    },
    {
      name: 'one-http-layer',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/api/(dispatcher|undici|undici-parts.d).ts$' },
      to: { path: 'node_modules/undici' },
    },
    {
      name: 'one-bucket-client',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: '^src/documents/bucket/(connection|requests|s3-sdk).ts$',
      },
      to: { path: 'node_modules/@aws-sdk' },
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
