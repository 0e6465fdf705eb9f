#!/usr/bin/env node
// Runs from source: bundles first (well under a second), then does what run.js does.
import('../scripts/bundle.js').then(({ bundle }) => bundle()).then(() => require('./run.js'));
