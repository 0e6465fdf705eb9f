/*
 * `npm run test:coverage` names a folder: each Node process that a test starts writes its coverage there. Node passes
 * NODE_V8_COVERAGE on to every child. It is set here and not from the start to leave out the process of the tests, whose
 * coverage Vitest measures.
 */
const folder = process.env.ESIGN_COVERAGE;
if (folder) process.env.NODE_V8_COVERAGE = folder;
