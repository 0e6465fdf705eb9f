/*
 * `npm run test:coverage` names a folder: each process of Node that a test starts writes there what it ran. Node hands
 * NODE_V8_COVERAGE on to every child; set here and not from the start, it leaves out the process of the tests, whose
 * coverage is measured by Vitest.
 */
const folder = process.env.ESIGN_COVERAGE;
if (folder) process.env.NODE_V8_COVERAGE = folder;
