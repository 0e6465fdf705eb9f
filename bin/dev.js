#!/usr/bin/env node
// Runs esign from source: bundles it first (in well under a second), then runs it like run.js.
import('../scripts/bundle.js').then(({ bundle }) => bundle()).then(() => require('./run.js'));
