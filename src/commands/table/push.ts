// Declares push.

import { IMAGE_FIELDS } from './listing.ts';
import { FILES, POLL_OPTIONS, SUBMITTED_FIELDS } from './packages.ts';
import { type CommandSpec, METRICS_OPTION, option, SERVICE_CODES } from './spec.ts';

export const push: CommandSpec = {
  name: 'push',
  summary: 'upload packages, sync them and show the new images',
  description: [
    'Checks each package as validate does, uploads it to the storage of the setting upload-url, submits one sync, waits for it and prints the new images. An OVF brings the files that it references.',
    'Files are uploaded under a hidden name and renamed when their package is complete. The digests of the manifest are checked during the upload. If they do not match, nothing of that package becomes visible.',
    '--dry-run exits with 0, even if it shows a conflict.',
    'After a failure, run the same command again. It skips files that the storage has, and on S3 also the parts that arrived. Each run submits one sync.',
  ],
  examples: [
    'imgctl push appliance.ova',
    'imgctl push *.ova --dry-run',
    'imgctl push appliance.ovf --on-conflict replace --no-wait',
  ],
  seeAlso: ['validate', 'sync', 'my-images', 'config'],
  arguments: [FILES],
  options: [
    option('--no-sync', 'upload only'),
    option('--no-wait', 'submit the sync, but do not wait for it'),
    option(
      '--dry-run',
      'show what would be uploaded, and what the sync would add, update and delete',
    ),
    option('--force', 'upload again even if the storage has the same file'),
    option(
      '--on-conflict <action>',
      'if the storage has another file of that name: fail, replace or skip',
      {
        default: 'fail',
        value: { kind: 'choice', noun: 'action', words: ['fail', 'replace', 'skip'] },
      },
    ),
    option('--part-size <size>', 'size of the parts of an upload to S3, in MiB', {
      default: '16M',
    }),
    option('--parallel <n>', 'parts that are uploaded to S3 at the same time', {
      default: '4',
      value: { kind: 'number', min: 1, max: 32 },
    }),
    ...POLL_OPTIONS,
    METRICS_OPTION,
  ],
  mutates: true,
  fields: [
    ['id', 'number or string', 'identifier of the image; with --no-wait, of the sync request'],
    ...IMAGE_FIELDS.filter(([name]) => name !== 'id'),
    ...SUBMITTED_FIELDS.filter(([name]) => name !== 'id').map(
      ([name, type, meaning]) => [name, type, `with --no-wait: ${meaning}`] as const,
    ),
    ['size', 'number or null', 'with --no-sync and --dry-run: bytes of the file'],
    ['state', 'string', 'with --no-sync: uploaded, unchanged or skipped'],
    ['step', 'string', 'with --dry-run: upload or sync'],
    ['action', 'string', 'with --dry-run: what would happen, such as upload, replace, add, delete'],
  ],
  exitCodes: [...SERVICE_CODES, 7],
  load: async () => (await import('../push.ts')).run,
};
