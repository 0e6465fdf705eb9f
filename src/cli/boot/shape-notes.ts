import type { HttpRequest, RawResponse } from '../../api/http.ts';
import type { CompatibilityRecorder, SeenWebhook } from '../../compatibility/recorder.ts';

/** The maximum number of responses that wait until the recorder is loaded. */
const MAX_WAITING = 10;
/** How long webhooks are collected before they are written together, in ms. They arrive in long-running processes. */
const FLUSH_DELAY_MS = 1_000;

/**
 * Compares responses with the API document in the background. The recorder is loaded after the first response was used, so no command
 * waits for it.
 */
export class ShapeNotes {
  readonly path: string;
  #recorder: CompatibilityRecorder | undefined;
  #loading: Promise<void> | undefined;
  #waiting: ((recorder: CompatibilityRecorder) => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(path: string) {
    this.path = path;
  }

  noteResponse(request: HttpRequest, response: RawResponse, body: unknown): void {
    this.#note((recorder) => recorder.noteResponse(request, response, body));
  }

  seeWebhook(webhook: SeenWebhook): void {
    this.#note((recorder) => recorder.seeWebhook(webhook));
    this.#timer ??= setTimeout(() => void this.write(), FLUSH_DELAY_MS).unref();
  }

  async write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#loading;
    await this.#recorder?.write();
  }

  #note(note: (recorder: CompatibilityRecorder) => void): void {
    if (this.#recorder !== undefined) {
      attempt(note, this.#recorder);
      return;
    }
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(note);
    this.#loading ??= this.#load();
  }

  async #load(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    const { CompatibilityRecorder } = await import('../../compatibility/recorder.ts');
    const recorder = new CompatibilityRecorder(this.path);
    for (const note of this.#waiting) attempt(note, recorder);
    this.#waiting = [];
    this.#recorder = recorder;
  }
}

/** Notes something. If that fails, the command doesn't. */
function attempt(note: (recorder: CompatibilityRecorder) => void, recorder: CompatibilityRecorder): void {
  try {
    note(recorder);
  } catch {
    // The record will be less complete.
  }
}
