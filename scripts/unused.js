import { ensureBuilt } from './ensure.js';
import { runTool } from './tools.js';

// Files, exports and packages that nothing uses.
await ensureBuilt();
await runTool('knip', []);
