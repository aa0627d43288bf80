// Version order of file names that twelve distributions published.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { planQuery } from '../../src/query/plan.ts';
import { SeriesIndex } from '../../src/query/series.ts';
import { MIXED, MIXED_NAMES, PUBLISHED, SERIES } from './published-names.ts';

function seriesOf(names: readonly string[], words: readonly string[]) {
  const index = new SeriesIndex<{ name: string }>(words);
  const plan = planQuery({ words }, { now: 0 });
  for (const name of names) if (plan.matches({ name })) index.add({ name });
  return index.series();
}

/** The names in any order, and the newest name of each series. */
const shuffled = (names: readonly string[]) =>
  fc
    .shuffledSubarray([...names], { minLength: names.length })
    .map((some) => seriesOf(some, []).map(({ newest }) => newest.map(({ name }) => name)));

it.each(SERIES)('of %s, each image is newer than those after it, in any order', (_, names) => {
  for (const [index, name] of names.entries()) {
    const property = fc.property(shuffled(names.slice(index)), (newest) => {
      expect(newest).toEqual([[name]]);
    });
    fc.assert(property, { numRuns: 10 });
  }
});

it('names of several series have the newest of each, in any order', () => {
  const expected = MIXED.filter((name) => name.startsWith('*')).map((name) => [name.slice(1)]);
  const property = fc.property(shuffled(MIXED_NAMES), (newest) => {
    expect(newest.sort()).toEqual(expected.sort());
  });
  fc.assert(property, { numRuns: 20 });
});

it.each([
  ['debian nocloud 12', 'debian-12-nocloud-amd64-20260712-2537.qcow2'],
  ['rocky Base 8', 'Rocky-8-GenericCloud-Base-8.10-20240528.0.x86_64.qcow2'],
  ['rocky Base 9.4', 'Rocky-9-GenericCloud-Base-9.4-20240609.1.x86_64.qcow2'],
  ['centos stream 8', 'CentOS-Stream-GenericCloud-8-20240429.0.x86_64.qcow2'],
  ['ubuntu server 22.04', 'ubuntu-22.04-server-cloudimg-amd64.img'],
  ['photon kube 3', 'photon-3-kube-v1.23.16.ova'],
  ['flatcar', 'flatcar-stable-3815.2.2-kube-v1.30.0.ova'],
])('the newest image for the words %s is %s', (words, name) => {
  const series = seriesOf(PUBLISHED, words.split(' '));
  expect(series.map(({ newest }) => newest[0].name)).toEqual([name]);
});
