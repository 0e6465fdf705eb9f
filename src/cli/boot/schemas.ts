import { config } from 'zod/mini';

// A schema is asked a few times in a run: to write and compile code for each, as zod does else, takes longer than it saves.
config({ jitless: true });
