// The kinds of options that several commands have: whole numbers, durations, and what may be given again.

import { Option } from 'commander';
import { ImgctlError } from '../errors.ts';
import { parseDuration } from '../session/settings.ts';

/** An option that takes a whole number in that range. */
export function numberOption(
  flags: string,
  text: string,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): Option {
  const option = new Option(flags, text);
  return option.argParser((value) => {
    if (/^\d{1,15}$/.test(value) && Number(value) >= least && Number(value) <= most) {
      return Number(value);
    }
    const range =
      most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new ImgctlError('usage', `${option.long} cannot be: ${value}`, {
      hint: `a whole number ${range}`,
    });
  });
}

/** An option that takes a duration and gives milliseconds. */
export function durationOption(flags: string, text: string): Option {
  const option = new Option(flags, text);
  return option.argParser((value) => parseDuration(value, option.long ?? flags));
}

/** For an option that may be given again: every value so far. */
export function append(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}
