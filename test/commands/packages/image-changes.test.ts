// What a sync did to the images of a push: the rows of the table of imageChanges, and their summary.

import { expect, it } from 'vitest';
import { imageChanges, summaryOf } from '../../../src/commands/packages/push/image-changes.ts';
import type { PlannedPackage } from '../../../src/upload/plan.ts';

const packageOf = (action: string, name = 'web.ova') =>
  ({ name, files: [{ name, action }] }) as unknown as PlannedPackage;
const image = (updated_on?: string | null) => ({ name: 'web.ova', updated_on });

it.each([
  ['skipped', 'skip', [], [image('1')]],
  ['missing', 'upload', [image('1')], []],
  ['added', 'upload', [], [image('1')]],
  ['updated', 'upload', [image('1')], [image('2')]],
  ['updated', 'upload', [image('1')], [image('1'), image('2')]],
  ['unchanged', 'unchanged', [image('1')], [image('1')]],
  ['updated', 'upload', [image()], [image(null)]],
  ['stale', 'upload', [image('2'), image('1')], [image('1'), image('2')]],
])('an image is %s: %s, %j, %j', (change, action, before, after) => {
  const others = [{ name: 'other.ova', updated_on: '1' }];
  const changes = imageChanges([packageOf(action)], [...before, ...others], [...others, ...after]);
  expect([...changes]).toEqual([['web.ova', change]]);
});

it('a summary counts an image that is late as added, and a stale one as unchanged', () => {
  const changes = ['missing', 'added', 'updated', 'unchanged', 'stale', 'skipped'] as const;
  const named = new Map(changes.map((change, index) => [`${index}.ova`, change]));
  expect(summaryOf(named)).toBe('2 images added, 1 updated, 2 unchanged, 1 skipped');
  expect(summaryOf(new Map([['a.ova', 'stale']]))).toBe('1 image unchanged');
});
