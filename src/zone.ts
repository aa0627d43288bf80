// The name of the time zone that TZ means: if TZ is not a name, Node silently takes another zone.

import fs from 'node:fs';
import path from 'node:path';

const ZONES = '/usr/share/zoneinfo';

/**
 * Returns the name, as date(1) reads TZ; undefined without one, such as for JST-9 or a copied file.
 */
export function zoneName(tz: string): string | undefined {
  const text = tz.replace(/^:/, '');
  if (text === '') return 'UTC';
  try {
    // Windows and small containers have only the zones of Node.
    if (!fs.existsSync(ZONES)) return isKnown(text) ? text : undefined;
    const file = path.resolve(ZONES, text);
    if (!fs.statSync(file).isFile()) return undefined;
    if (/^[A-Z]/.test(text)) return text;
    const linked = path.relative(fs.realpathSync(ZONES), fs.realpathSync(file));
    const name = linked.replace(/^(?:posix|right)\//, '');
    return isKnown(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

function isKnown(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format() !== '';
  } catch {
    return false;
  }
}
