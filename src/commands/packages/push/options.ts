// The options of push, and the columns of what it prints.

import { GET_OPTION, option, type Parsed, settingOption } from '../../../cli/declare.ts';
import { choice } from '../../../config/values.ts';
import type { Context } from '../../../context.ts';
import { column } from '../../../output/columns.ts';
import type { Output } from '../../../output/output.ts';
import { describeBytes } from '../../../words.ts';
import { IMAGE_COLUMNS, SHOWN_FIELDS } from '../../images/options.ts';
import { UPLOAD_OPTIONS } from '../../upload-storage.ts';
import { POLL_OPTIONS } from '../sync/follow.ts';
import { STRICT_OPTION, SUBMITTED_COLUMNS } from '../sync/options.ts';
import { submittedOutput } from '../sync/sync.ts';

export const OPTIONS = [
  settingOption('--to <url>', 'upload-url', 'URL or folder to upload to (setting upload-url)'),
  option('--no-sync', 'upload only'),
  option('--no-wait', 'submit the sync, but do not wait for it'),
  option('--sync-if-sent', 'submit a sync only if something was sent', { conflicts: ['sync'] }),
  option('--dry-run', 'show what would be uploaded and synced'),
  option('--on-conflict <action>', 'if a different file has that name: fail, replace or skip', {
    default: 'fail',
    value: choice('action', ['fail', 'replace', 'skip']),
  }),
  settingOption('--limit-rate <rate>', 'limit-rate'),
  ...UPLOAD_OPTIONS,
  ...POLL_OPTIONS,
  { ...STRICT_OPTION, conflicts: ['sync', 'wait'] },
  GET_OPTION,
] as const;

const NAME = column('name', 'string', 'file name', { isId: true, isCuttable: true });
const SIZE = column('size', 'number or null', 'bytes of the file', {
  needs: '--no-sync and --dry-run',
  text: (bytes) => describeBytes(Number(bytes)),
});
const STATE = column('state', 'string', 'uploaded, unchanged or skipped', {
  needs: '--no-sync',
  isState: true,
});
const STEP = column('step', 'string', 'upload or sync', { needs: '--dry-run' });
const ACTION = column('action', 'string', 'what is planned, such as upload or delete', {
  needs: '--dry-run',
});

export const PUSH_FIELDS = [
  column('id', 'number or string', 'image id; with --no-wait, of the sync request'),
  ...IMAGE_COLUMNS.filter(({ name }) => name !== 'id').map((each) => {
    return each.needs ? { ...each, needs: '--get' } : each;
  }),
  ...SUBMITTED_COLUMNS.filter(({ name }) => name !== 'id').map((each) => {
    return { ...each, needs: '--no-wait' };
  }),
  SIZE,
  STATE,
  STEP,
  ACTION,
];

/** Decides what is printed: what would be done, files, images or the sync request. */
export function outputOf(context: Context, options: Parsed<typeof OPTIONS>): Output {
  const { dryRun, sync, wait } = options;
  if (dryRun) return context.output([STEP, ACTION, NAME, SIZE], options);
  if (!sync) return context.output([NAME, SIZE, STATE], options);
  return wait
    ? context.output(IMAGE_COLUMNS, { ...options, shown: SHOWN_FIELDS })
    : submittedOutput(context, options);
}
