// The history of a delivery: at the service, here, and at the application it was forwarded to.
import { el, lasting, shown, time } from './dom.js';

/** Returns the steps as an ordered list. */
export function timeline(delivery) {
  const steps = [happened(delivery), received(delivery), ...delivery.passings.map(passed)];
  return el('ol', { class: 'timeline' }, steps);
}

function step({ at, title, note, tone }) {
  return el(
    'li',
    { 'data-tone': tone },
    el('span', { class: 'when' }, at && time(at, { exact: true })),
    el('span', { class: 'what' }, title, note && el('span', { class: 'note' }, note)),
  );
}

function happened({ happenedAt }) {
  if (happenedAt === null) return null;
  return step({ at: happenedAt, title: 'Time at the service', note: null, tone: 'plain' });
}

function received({ happenedAt, receivedAt, answer, answeredInMs, duplicate, verdict }) {
  const lag = happenedAt === null ? Number.NaN : Date.parse(receivedAt) - Date.parse(happenedAt);
  const notes = [
    lag >= 0 && `${lasting(lag)} later`,
    lag < 0 && 'before it happened: the clocks differ',
    duplicate && 'duplicate',
    `responded with ${answer}${answeredInMs === null ? '' : ` in ${lasting(answeredInMs)}`}`,
  ];
  const tone = verdict.state === 'verified' ? 'good' : verdict.state === 'refused' ? 'bad' : 'warn';
  return step({ at: receivedAt, title: 'Received', note: notes.filter(Boolean).join(', '), tone });
}

function passed({ url, attempt, status, ms, error, at, replay }) {
  const what = replay ? 'Replayed to ' : attempt > 1 ? `Attempt ${attempt} to ` : 'Forwarded to ';
  const outcome = error === null ? `responded with ${status}` : shown(error);
  return step({
    at,
    title: [what, el('code', {}, shown(url))],
    note: `${outcome} in ${lasting(ms)}`,
    tone: error === null ? 'good' : 'bad',
  });
}
