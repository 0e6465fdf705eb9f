import { ensureBuilt } from './ensure.js';
import { runTool } from './tools.js';

// Reports unused files, exports, and packages.
await ensureBuilt();
await runTool('knip', []);
