// Catches what a wrong command line is answered with.

import { ImgctlError } from '../../src/errors.ts';

/** Message and hint of the usage error that the call throws; anything else thrown goes on. */
export function usageErrorOf(call: () => unknown): { message: string; hint: string } {
  try {
    call();
  } catch (error) {
    if (!(error instanceof ImgctlError) || error.code !== 'usage') throw error;
    return { message: error.message, hint: error.hint ?? '' };
  }
  throw new Error('no error was thrown');
}
