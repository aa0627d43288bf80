// Returns the ImgctlError that a call fails with.

import { ImgctlError } from '../../src/errors.ts';

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
