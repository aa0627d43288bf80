// The verdict finds each fault, and none in a correct run.

import { expect, it } from 'vitest';
import type { Case } from './cases.ts';
import { CANARIES } from './originals.ts';
import { faultsOf } from './verdict.ts';

const LIST: Case = {
  argv: ['images', 'list'],
  format: 'json',
  env: {},
  hasFolder: false,
  columns: undefined,
};
const TABLE: Case = { ...LIST, format: 'table' };
const TTY: Case = { ...LIST, format: 'csv', columns: 80 };
const GOOD = { exitCode: 0, stdout: '[]\n', stderr: '' };
const ERROR = { exitCode: 1, stdout: '', stderr: '{"error":{}}\n' };
const message = (stderr: string) => ({ exitCode: 1, stdout: '', stderr });

it.each([
  ['a list', LIST, GOOD],
  ['an error', LIST, ERROR],
  ['a table', TABLE, { ...GOOD, stdout: 'ID\n日本語 🖥️\n' }],
  ['csv in a pipe', { ...TTY, columns: undefined }, { ...GOOD, stdout: 'a\u001bb\r\n' }],
  ['csv', TTY, { ...GOOD, stdout: 'a,b\r\n' }],
])('faultsOf finds nothing in %s', (_, run, result) => {
  expect(faultsOf(run, result)).toEqual([]);
});

it.each([
  ['exit code 9', LIST, { ...ERROR, exitCode: 9 }],
  ['exit code 2 because of a response', LIST, { ...ERROR, exitCode: 2 }],
  ['fails without a message', LIST, message('')],
  ['unexpected error', TABLE, message('imgctl: unexpected error: x\n')],
  ['stack trace', TABLE, message('imgctl: x\n    at run (main.ts:1:2)\n')],
  [
    'waits for data that was not sent',
    TABLE,
    message('imgctl: no complete response within 10 s\n'),
  ],
  ['code of a library on stderr', TABLE, message('imgctl: UND_ERR_SOCKET\n')],
  ['nonsense on stderr', TABLE, message('imgctl: 3 of undefined\n')],
  ['nonsense on stderr', TABLE, message('imgctl: [object Object]\n')],
  ['harmful character on stderr', TABLE, message('imgctl: \u009b1m\n')],
  ['harmful character on stderr', TABLE, message('imgctl: \ud800\n')],
  ['harmful character on stdout', TABLE, { ...GOOD, stdout: 'a\u202eb\n' }],
  ['harmful character on stdout', TABLE, { ...GOOD, stdout: 'a\tb\n' }],
  ['harmful character on stdout', TTY, { ...GOOD, stdout: 'a\u001bb\r\n' }],
  ['shows a secret', TABLE, message(`imgctl: ${CANARIES.password}\n`)],
  ['shows a secret', TABLE, { ...GOOD, stdout: `${CANARIES.token}\n` }],
  ['no json', LIST, { ...GOOD, stdout: '[\n' }],
  ['no ndjson', { ...LIST, format: 'ndjson' as const }, { ...GOOD, stdout: '{}\n{\n' }],
  ['no yaml', { ...LIST, format: 'yaml' as const }, { ...GOOD, stdout: '"a\n' }],
  ['stderr is not JSON', LIST, message('imgctl: x\n')],
])('faultsOf finds: %s', (fault, run, result) => {
  expect(faultsOf(run, result)).toEqual([fault]);
});
