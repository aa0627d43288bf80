// The help topic about choosing, pinning and watching images; a test runs every shell line.

import type { Block } from '../../declarations.ts';
import { describeTextWords } from '../../query/version.ts';

export const CHOOSING: readonly Block[] = [
  'How to find the newest image, use it in a script, pin it, and notice changes.',
  'Version order: imgctl divides a name at its numbers. Names with the same text form a series, such as ubuntu-#.#-server-cloudimg-amd64-#.ova. In a series, numbers are compared from left to right, so 8.10 is newer than 8.9. updated_on never decides; created_on decides between equal names.',
  `The digits of these words are no version, so the words count as text: ${describeTextWords()}.`,
  'Words: "images list" searches text, so "images list rocky 8" also finds Rocky-9.5-Base.x86_64.ova. "images latest" and "images lock" match numbers as a whole, so "images latest rocky 8" considers Rocky 8 and 8.10 only.',
  {
    shell: [
      'imgctl images latest ubuntu server',
      'imgctl images latest debian --each',
      'imgctl images latest rocky Base --explain',
      'imgctl images list ubuntu -s name:version,desc --limit 5',
    ],
  },
  'If several series match, "images latest" exits with 2 and lists them. Add words or a filter until one is left. Only the numbers count: openSUSE Leap 42.3 is older than 15.0, but counts as newer. --explain shows why.',
  'Values for scripts: --get prints one bare value per line. If a value is missing, it prints nothing and exits with 5.',
  {
    shell: ['imgctl images latest ubuntu server --get path', 'imgctl images list debian --get id'],
  },
  'Pins: a lock file stores an image for each name. Commit images.lock.json, so that every build uses the same images. "check" exits with 1 if an image is gone, replaced or moved; with --exit-code it exits with 10 if there are only newer ones.',
  {
    shell: [
      'imgctl images lock add web ubuntu server',
      'imgctl images get --lock web --get path',
      'imgctl images lock check --exit-code',
      'imgctl images lock update',
    ],
  },
  'Changes: "images changes" shows what was added, updated, moved or removed since the last run. Use --cursor to keep several independent states. A run that fails loses nothing: the next one shows the same changes again.',
  {
    shell: [
      'imgctl images changes',
      'imgctl images changes ubuntu --cursor nightly --exit-code',
      'imgctl images changes --peek --json',
    ],
  },
  'Offline: a snapshot holds the whole catalogue. It is read only with --from, and its age is shown on stderr.',
  {
    shell: [
      'imgctl images snapshot --file catalogue.json',
      'imgctl images latest ubuntu server --from catalogue.json --max-age 7d',
      'imgctl images changes --since-file catalogue.json',
    ],
  },
];
