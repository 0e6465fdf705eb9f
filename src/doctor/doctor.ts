import type { Settings } from '../profiles/resolve.ts';
import { type Finding, failed, ok, skipped, warning } from './check.ts';
import type { Patient } from './context.ts';
import { checkNode, checkPermissions, checkProxy, checkState } from './machine.ts';
import { checkBaseUrl, checkKey, checkService, skipService } from './service.ts';

/** Looks at everything a command rests on, one finding after the other; changes nothing anywhere. */
export async function* examine(patient: Patient): AsyncGenerator<Finding, void, undefined> {
  yield checkNode(patient);
  yield await checkPermissions(patient);
  const settings = await readSettings(patient);
  yield settings.finding;
  yield await checkState(patient);
  if (settings.value === undefined) {
    const why = 'the settings are not usable';
    for (const name of ['base-url', 'proxy', 'key']) yield skipped(name, why);
    yield* [...skipService(why), skipped('bucket', why)];
    return;
  }
  yield* examineService(patient, settings.value);
  yield await checkStorage(patient, settings.value);
}

async function readSettings(patient: Patient): Promise<{ finding: Finding; value: Settings | undefined }> {
  try {
    const value = await patient.settings();
    const { profileName } = value;
    const message =
      profileName === undefined ? 'none in use' : `${profileName.value} (${profileName.source})`;
    return { finding: ok('profile', message), value };
  } catch (error) {
    return { finding: failed('profile', error), value: undefined };
  }
}

async function* examineService(patient: Patient, settings: Settings): AsyncGenerator<Finding> {
  const baseUrl = checkBaseUrl(settings);
  const proxy = checkProxy(patient, settings.baseUrl && new URL(settings.baseUrl.value));
  const passable = baseUrl.error === undefined && proxy.error === undefined;
  const key = passable
    ? await checkKey(patient, settings)
    : skipped('key', 'there is no service it could be used for');
  yield* [baseUrl, proxy, key];
  const why = 'it cannot be asked without address and key';
  yield* passable && key.error === undefined ? await checkService(patient, settings) : skipService(why);
}

async function checkStorage(patient: Patient, { storage }: Settings): Promise<Finding> {
  const name = 'bucket';
  if (storage.bucket === undefined)
    return skipped(
      name,
      'none is set; files can be fetched after `esign profiles edit NAME --bucket BUCKET`',
    );
  try {
    const readable = await patient.checkBucket(storage, patient.signal);
    if (readable === 'yes') return ok(name, `${storage.bucket} answers, files can be read`);
    return warning(
      name,
      `${storage.bucket} answers, but does not say whether files can be read`,
      'The key needs s3:GetObject. With s3:ListBucket as well, a missing file is told from a forbidden one.',
    );
  } catch (error) {
    if (patient.signal.aborted) throw error;
    return failed(name, error);
  }
}
