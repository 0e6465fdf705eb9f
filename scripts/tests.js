import { ensureBuilt } from './ensure.js';
import { runVitest } from './vitest.js';

// Builds what is out of date, and runs one project of vitest.config.ts: `npm run test:promises`, `npm run test:promises -- test/promises/late.test.ts`.

const [project = 'unit', ...words] = process.argv.slice(2);
await ensureBuilt();
process.exitCode = await runVitest([project], words);
