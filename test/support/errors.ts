// Returns the ImgctlError that a call fails with.

import { hintText } from '../../src/cli/hints.ts';
import { DEFAULT_PROFILE } from '../../src/config/config-file.ts';
import { Settings } from '../../src/config/settings.ts';
import { ImgctlError } from '../../src/errors.ts';
import type { Facts } from '../../src/facts.ts';

export function thrownBy(call: () => unknown): ImgctlError {
  try {
    call();
  } catch (thrown) {
    if (thrown instanceof ImgctlError) return thrown;
    throw thrown;
  }
  throw new Error('the call did not fail');
}

export async function failure(work: Promise<unknown>): Promise<ImgctlError> {
  const outcome = await work.then(
    () => new Error('the call did not fail'),
    (thrown: unknown) => thrown,
  );
  if (outcome instanceof ImgctlError) return outcome;
  throw outcome;
}

/** Returns the hint that the program prints for an error, in the default profile with these addresses. */
export function hintOf({ facts }: { readonly facts: Facts | undefined }): string | undefined {
  const stored = { 'base-url': 'https://images.example', 'upload-url': 'file:///srv' };
  const profiles = new Map([[DEFAULT_PROFILE, stored]]);
  const settings = () => new Settings({ profile: undefined, profiles }, DEFAULT_PROFILE, {});
  return facts && hintText(facts, settings);
}
