// imgctl images lock add: locks the newest image of a query under a name.

import { argument, command, option, type Parsed, SERVICE_CODES } from '../../../cli/declare.ts';
import type { Result } from '../../../cli/result.ts';
import { checkName } from '../../../config/values.ts';
import type { Context } from '../../../context.ts';
import { ImgctlError } from '../../../errors.ts';
import { portableTexts } from '../../../query/filter.ts';
import { newestCollector } from '../../../query/newest.ts';
import { parseQuery } from '../../../query/query.ts';
import { describeQuery } from '../invocation.ts';
import { CHOOSING_FILTER, WORDS } from '../options.ts';
import { openCatalogue, readTogether } from '../read.ts';
import { changeLocks, lockCommand, requireLock } from './lock-file.ts';
import { newestForLock } from './lock-query.ts';
import { LOCK_CATALOGUE_OPTIONS, LOCK_COLUMNS, SHOWN_COLUMNS } from './options.ts';

const OPTIONS = [
  CHOOSING_FILTER,
  option('--replace', 'replace the lock of this name'),
  ...LOCK_CATALOGUE_OPTIONS,
] as const;

export const lockAdd = command({
  name: 'add',
  otherNames: ['create', 'new'],
  summary: 'lock the newest image that matches',
  description: ['Selects the image as "imgctl images latest" does.'],
  examples: [
    'imgctl images lock add web ubuntu 22.04 server',
    'imgctl images lock add db debian genericcloud -f folder,ne,archive',
  ],
  seeAlso: ['images latest', 'images lock update'],
  arguments: [
    argument('name', 'name of the lock', { required: true }),
    { ...WORDS, description: 'consider only images whose name matches every word' },
  ],
  options: OPTIONS,
  fields: LOCK_COLUMNS,
  exitCodes: SERVICE_CODES,
  run,
});

async function run(
  context: Context,
  options: Parsed<typeof OPTIONS>,
  name: string,
  text: readonly string[],
): Promise<Result> {
  checkName(name, 'lock', { dots: true });
  const output = context.output(LOCK_COLUMNS, { ...options, shown: SHOWN_COLUMNS });
  const query = parseQuery({ words: text, filters: options.filter }, context.io.now());
  const stored = { text, filters: query.filters.flatMap(portableTexts) };
  const catalogue = await openCatalogue(context, options);
  const { baseUrl } = catalogue;
  const change = { baseUrl, mayCreate: true };
  const { after } = await changeLocks(context, options, change, async (locks) => {
    if (locks.has(name) && !options.replace) {
      const message = `${name} is already locked`;
      throw new ImgctlError('usage', message, { facts: 'add --replace, or use another name' });
    }
    const search = newestCollector(query);
    await readTogether(context, catalogue, [search]);
    const again = lockCommand(options, 'add', name, ...(options.replace ? ['--replace'] : []));
    return new Map(locks).set(name, newestForLock(name, stored, search, again));
  });
  const { file } = options;
  const added = requireLock(options, after, name);
  const typed = describeQuery(query);
  const what = typed === '' ? 'the newest image' : `the newest of "${typed}"`;
  return {
    output,
    rows: [{ lock: name, ...added }],
    isOne: true,
    afterwards: () => context.console.success(`Locked ${name} in ${file}: ${added.name} (${what})`),
    done: `${name} is locked in ${file}`,
  };
}
