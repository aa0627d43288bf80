// What a call fails with, where that is an error of imgctl's own.

import { ImgctlError } from '../../src/errors.ts';

/** The test fails where the call does not, or with anything but an ImgctlError. */
export function thrownBy(call: () => unknown): ImgctlError {
  try {
    call();
  } catch (thrown) {
    if (thrown instanceof ImgctlError) return thrown;
    throw thrown;
  }
  throw new Error('it did not fail');
}

/** The same for what takes its time. */
export async function failure(work: Promise<unknown>): Promise<ImgctlError> {
  const outcome = await work.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown,
  );
  if (outcome instanceof ImgctlError) return outcome;
  throw outcome;
}
