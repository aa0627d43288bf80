// Which files of a failed push would give a sync half a package.

import { expect, it } from 'vitest';
import { brokenPackages, UploadOutcome } from '../../../src/commands/packages/push/upload.ts';
import { ImgctlError } from '../../../src/errors.ts';
import type { Action } from '../../../src/upload/actions.ts';
import type { PlannedFile } from '../../../src/upload/transfer.ts';

type Visible = PlannedFile['compared']['visible'];
type FileCase = readonly [Action, Visible];

function fileOf(name: string, [action, visible]: FileCase): PlannedFile {
  const compared = { size: 1, settledState: undefined, action, visible };
  const local = { name, path: name, regions: [], checked: undefined };
  return { ...local, package: 'db.ovf', size: 1, action, note: undefined, compared };
}

it.each<[FileCase, FileCase, 'failed' | 'conflict', 'fail' | 'replace', readonly string[]]>([
  [['upload', 'perhaps'], ['upload', 'yes'], 'failed', 'fail', ['a.vmdk', 'db.ovf (perhaps)']],
  [['upload', 'perhaps'], ['upload', 'yes'], 'conflict', 'fail', []],
  [['replace', 'no'], ['replace', 'yes'], 'failed', 'replace', ['a.vmdk']],
  [['unchanged', 'no'], ['replace', 'perhaps'], 'failed', 'replace', ['a.vmdk (perhaps)']],
  [['replace', 'no'], ['upload', 'yes'], 'failed', 'replace', []],
  [['upload', 'no'], ['replace', 'yes'], 'failed', 'replace', []],
  [['unchanged', 'no'], ['upload', 'no'], 'conflict', 'replace', ['a.vmdk']],
  [['replace', 'yes'], ['replace', 'no'], 'conflict', 'replace', ['a.vmdk', 'db.ovf']],
])('push with a descriptor %j and a disk %j names its files after an error (%s, %s)', (...row) => {
  const [descriptor, disk, code, onConflict, names] = row;
  const outcome = new UploadOutcome();
  const files = [fileOf('a.vmdk', disk), fileOf('db.ovf', descriptor)];
  const error = new ImgctlError(code, 'it failed');
  outcome.failed.set({ name: 'db.ovf', verify: async () => {}, files }, error);
  const broken = brokenPackages(outcome, { onConflict });
  expect(broken).toEqual(new Map(names.length > 0 ? [['db.ovf', names]] : []));
});
