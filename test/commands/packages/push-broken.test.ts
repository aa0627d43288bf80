// Which files of a failed push would give a sync half a package.

import { expect, it } from 'vitest';
import { brokenPackages } from '../../../src/commands/packages/push/broken.ts';
import { ImgctlError } from '../../../src/errors.ts';
import type { PlannedFile } from '../../../src/upload/plan.ts';
import type { Comparison } from '../../../src/upload/storage.ts';

type FileCase = readonly [before: Comparison['state'], visible: 'no' | 'perhaps' | 'yes'];

function fileOf(name: string, [state]: FileCase): PlannedFile {
  const stored = { fingerprint: '', isSettled: false, size: 1, tag: '' };
  const before = state === 'same' ? { state, stored } : { state };
  const local = { name, path: name, regions: [], checkedFingerprint: undefined };
  const compared = { size: 1, settledFingerprint: undefined, before };
  return { ...local, ...compared, package: 'db.ovf', action: 'upload', note: undefined };
}

it.each<[FileCase, FileCase, 'failed' | 'conflict', 'fail' | 'replace', readonly string[]]>([
  [['absent', 'perhaps'], ['absent', 'yes'], 'failed', 'fail', ['a.vmdk', 'db.ovf (perhaps)']],
  [['absent', 'no'], ['absent', 'yes'], 'conflict', 'fail', []],
  [['different', 'no'], ['different', 'yes'], 'failed', 'replace', ['a.vmdk']],
  [['same', 'no'], ['different', 'perhaps'], 'failed', 'replace', ['a.vmdk (perhaps)']],
  [['different', 'no'], ['absent', 'yes'], 'failed', 'replace', []],
  [['absent', 'no'], ['different', 'yes'], 'failed', 'replace', []],
  [['same', 'no'], ['absent', 'no'], 'conflict', 'replace', []],
  [['same', 'no'], ['absent', 'perhaps'], 'conflict', 'replace', ['a.vmdk (perhaps)']],
])('push with a descriptor %j and a disk %j names its files after an error (%s, %s)', (...row) => {
  const [descriptor, disk, code, onConflict, names] = row;
  const cases = Object.entries({ 'a.vmdk': disk, 'db.ovf': descriptor });
  const files = cases.map(([name, file]) => fileOf(name, file));
  const seen = cases.filter(([, [, visible]]) => visible !== 'no');
  const visible = new Map(seen.map(([name, [, each]]) => [name, { isCertain: each === 'yes' }]));
  const error = new ImgctlError(code, 'it failed');
  const incomplete = new Map([[{ name: 'db.ovf', verify: async () => {}, files }, error]]);
  const broken = brokenPackages(incomplete, { onConflict, visible });
  expect(broken).toEqual(new Map(names.length > 0 ? [['db.ovf', names]] : []));
});
