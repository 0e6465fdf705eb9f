/**
 * Problems that the promises cause on purpose. Each entry must occur at least once, or it is out of date; anything
 * that no entry names is a violation. An entry allows one kind of problem on one operation, nothing else.
 */
export const EXPECTED = [
  {
    method: 'POST',
    path: '/esign/envelopes',
    status: 'broken off',
    what: /^response: broken off$/,
    why: 'never-twice.test.ts: the fault lostReply, for a creation that must not be made twice',
  },
  {
    method: 'POST',
    path: '/esign/envelopes/{id}/send',
    status: 'broken off',
    what: /^response: broken off$/,
    why: 'never-twice.test.ts: the fault lostReply, settled by reading the state',
  },
  {
    method: 'POST',
    path: '/esign/envelopes/{id}/cancel',
    status: 'broken off',
    what: /^response: broken off$/,
    why: 'never-twice.test.ts: the fault truncate, settled by reading the state',
  },
];
