// Checks that several settings share, and their errors.

import { ImgctlError } from '../errors.ts';

export const nonEmpty = (what: string) => (text: string) => {
  if (text === '') throw emptyValue(what);
};

export function emptyValue(what: string): ImgctlError {
  return new ImgctlError('usage', `${what} must not be empty`, {
    hint: `provide a value, or remove the setting: imgctl config unset ${what}`,
  });
}

export function invalid(what: string, text: string, hint: string): ImgctlError {
  return new ImgctlError('usage', `invalid ${what}: ${text}`, { hint });
}
