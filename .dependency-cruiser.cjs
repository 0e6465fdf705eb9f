// The floors of the house: a file imports only from floors below its own. Type-only imports count, too.
const capabilities = [
  'bulk',
  'completion',
  'demo',
  'doctor',
  'documents',
  'envelope-index',
  'envelopes',
  'evidence',
  'profiles',
  'sandbox-control',
  'templates',
  'update',
  'webhooks',
];
// Arrows between capabilities, by name: sending in bulk is sending, and names roles of templates; the doctor looks at the settings a command
// would use; evidence is what the papers, the webhooks and the reminders of an envelope say; the index
// answers the selections of envelopes, and completion is fed as it is.
const arrows = {
  bulk: ['envelopes', 'templates'],
  completion: ['envelope-index'],
  doctor: ['profiles'],
  'envelope-index': ['envelopes'],
  evidence: ['documents', 'envelopes', 'webhooks'],
};
// The topics of src/cli/; boot, input and prompts beside them are for all. Papers are fetched when an envelope is completed, and for its evidence; waiting for one there is a watch; an assistant asks about both.
// An index shows its progress where searches do.
const topics = [
  'api',
  'autocomplete',
  'bulk',
  'demo',
  'describe',
  'doctor',
  'documents',
  'envelopes',
  'index',
  'mcp',
  'profiles',
  'sandbox',
  'templates',
  'webhooks',
];
const topicArrows = {
  envelopes: ['documents'],
  index: ['envelopes'],
  mcp: ['documents', 'envelopes'],
  webhooks: ['documents', 'envelopes'],
};
// What the bundle carries: no package is installed with esign-cli (docs/packaging.md). Others are tools.
const bundled = [
  '@aws-sdk/client-s3',
  '@aws-sdk/s3-request-presigner',
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
  'string-width',
  'undici',
  'yaml',
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
      name: 'kernel-stands-alone',
      severity: 'error',
      from: { path: '^src/kernel/' },
      to: { path: '^src/', pathNot: '^src/kernel/' },
    },
    {
      name: 'api-rests-on-kernel',
      severity: 'error',
      from: { path: '^src/api/' },
      to: { path: '^src/', pathNot: '^src/(api|kernel)/' },
    },
    {
      name: 'journal-rests-on-kernel',
      severity: 'error',
      from: { path: '^src/journal/' },
      to: { path: '^src/', pathNot: '^src/(journal|kernel)/' },
    },
    {
      name: 'capabilities-know-no-terminal',
      severity: 'error',
      from: { path: `^src/(${capabilities.join('|')})/` },
      to: { path: above },
    },
    ...capabilities.map((name) => ({
      name: `${name}-knows-no-other-capability`,
      severity: 'error',
      from: { path: `^src/${name}/` },
      to: {
        path: `^src/(${capabilities.filter((other) => other !== name && !arrows[name]?.includes(other)).join('|')})/`,
      },
    })),
    {
      name: 'output-stands-on-kernel',
      comment: 'the terminal kit: a view of a topic stands in src/cli/<topic>/',
      severity: 'error',
      from: { path: '^src/output/' },
      to: { path: '^src/', pathNot: '^src/(output|kernel)/' },
    },
    ...topics.map((name) => ({
      name: `cli-${name}-knows-no-other-topic`,
      severity: 'error',
      from: { path: `^src/cli/${name}/` },
      to: {
        path: `^src/cli/(${topics.filter((other) => other !== name && !topicArrows[name]?.includes(other)).join('|')})/`,
      },
    })),
    {
      name: 'cli-knows-no-command',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: '^src/commands/' },
    },
    {
      name: 'client-door-is-for-programs',
      comment: 'the commands have doors of their own, and a program has no terminal',
      severity: 'error',
      from: { path: '^src/client/' },
      to: { path: '^src/', pathNot: '^src/(client|envelopes|api|kernel)/' },
    },
    {
      name: 'standalone-only-carries',
      comment: 'the executable runs the bundle; the bundle knows nothing of it',
      severity: 'error',
      from: { path: '^src/standalone/' },
      to: { path: '^src/', pathNot: '^src/(standalone|kernel|cli/boot/installation.ts)' },
    },
    {
      name: 'commands-are-thin',
      comment: 'flags, one call, one render: no HTTP, no files, no other command',
      severity: 'error',
      from: { path: '^src/commands/' },
      to: {
        path: '^src/commands/|^(node:)?(fs|http|https|net|child_process)(/|$)|^node_modules/(undici|conf|@aws-sdk)',
      },
    },
    {
      name: 'sandbox-is-a-house-of-its-own',
      severity: 'error',
      from: { path: '^src/sandbox/' },
      to: { path: '^src/', pathNot: '^src/(sandbox|journal|kernel)/' },
    },
    {
      name: 'sandbox-has-one-door',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/sandbox/' },
      to: { path: '^src/sandbox/', pathNot: '^src/sandbox/(index|embed(-model)?).ts$' },
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
        pathNot: '^src/documents/bucket/(bucket|connection|plain-get|s3-sdk|s3-presigner).ts$',
      },
      to: { path: 'node_modules/@aws-sdk' },
    },
    {
      name: 'only-bundled-packages',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^node_modules/', pathNot: `^node_modules/(@napi-rs/keyring|${bundled.join('|')})/` },
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
