import { ownClock, TEST_CLOCK } from './own-clock.js';

/* Loaded before a command that runs in a process of its own. */
Reflect.set(process, TEST_CLOCK, ownClock());
