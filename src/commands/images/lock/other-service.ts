// Says that a lock file belongs to another service than the one that a command reads.

import { type Settings, storedSettings } from '../../../config/settings.ts';
import type { Context } from '../../../context.ts';
import { ImgctlError, tryOr } from '../../../errors.ts';
import type { Io } from '../../../io.ts';

/**
 * Returns the error for a file of another service, and what to do about it.
 * @param label of the file. @param from the snapshot that is read instead of the service
 * @param owner the service of the file, if it names one. @param wanted that of the command
 */
export function otherServiceError(
  { settings, io }: Context,
  { label, from }: { readonly label: string; readonly from: string | undefined },
  owner: string | undefined,
  wanted: string,
): ImgctlError {
  const line = `"base_url": ${JSON.stringify(wanted)}`;
  if (owner === undefined) {
    const advice = `if its images are from ${wanted}, add the line: ${line},`;
    return new ImgctlError('config', `${label} does not name its service`, { facts: advice });
  }
  const fixes = [
    from === undefined ? howToRead(owner, settings, io) : `use a snapshot of ${owner}`,
    'for another lock file, use --file FILE',
    `if both addresses are one service, write into the file: ${line}`,
  ];
  const facts = fixes.filter((fix) => fix !== undefined).join('; ');
  return new ImgctlError('config', `${label} belongs to ${owner}, not to ${wanted}`, { facts });
}

/** Returns how the command reads another service; undefined if no profile is of that service. */
function howToRead(baseUrl: string, settings: Settings, io: Io): string | undefined {
  const profile = profileOf(settings, io, baseUrl);
  if (profile === undefined) return undefined;
  // An option or a variable comes before the address of any profile.
  const isStored = settings.find('base-url').layer === 'profile';
  return isStored ? `use --profile ${profile}` : `use --base-url ${baseUrl}`;
}

/** Returns the name of a profile of this service, of the same user if there is one. */
function profileOf({ config, profile }: Settings, io: Io, baseUrl: string): string | undefined {
  const accountOf = (name: string) =>
    tryOr(() => storedSettings(config, name, io.env).account, undefined);
  const username = accountOf(profile)?.username;
  const names = [...config.profiles.keys()].filter((name) => accountOf(name)?.baseUrl === baseUrl);
  return names.find((name) => accountOf(name)?.username === username) ?? names[0];
}
