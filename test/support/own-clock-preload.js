import { ownClock, TEST_CLOCK } from './own-clock.js';

/* Loaded before a command that runs in a separate process. */
Reflect.set(process, TEST_CLOCK, ownClock());
