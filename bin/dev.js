#!/usr/bin/env node
// Runs from source: bundles first (well under a second), then does what run.js does.
import { bundle } from '../scripts/bundle.js';

await bundle();
await import('./run.js');
