// --filter: what is accepted, and how a wrong one is answered.

import { describe, expect, it } from 'vitest';
import { parseFilter } from '../../src/query/filter.ts';
import { thrownBy } from '../support/errors.ts';

const NOW = Date.UTC(2024, 5, 15, 12);
const STAMP = '2018-07-18 Wed 15:36:49 EDT';

describe('parseFilter', () => {
  it.each([
    ['name,like,%ubuntu%', 'name,like,%ubuntu%', true],
    ['NAME,LIKE,%Ubuntu%', 'name,like,%Ubuntu%', true],
    ['name,eq,a,b,,c', 'name,eq,a,b,,c', true],
    ['name,eq, a ', 'name,eq, a ', true],
    ['id,in,1,02,-3', 'id,in,1,2,-3', true],
    ['public,eq,TRUE', 'public,eq,true', true],
    ['folder,eq,null', 'folder,eq,null', false],
    ['id,ne,null', 'id,ne,null', false],
    ['folder,like,null', 'folder,like,null', true],
    ['folder,in,null,x', 'folder,in,null,x', true],
    [`created_on,eq,${STAMP}`, `created_on,eq,${STAMP}`, true],
    [
      'created_on,ge,2018-07-18 Wed 15:36:49 CST',
      'created_on,ge,2018-07-18 Wed 15:36:49 CST',
      true,
    ],
    ['created_on,ge,2018-07-18', 'created_on,ge,2018-07-18', false],
    ['created_on,ge,-30d', 'created_on,ge,-30d', false],
    [`created_on,in,${STAMP},2018-07-18`, `created_on,in,${STAMP},2018-07-18`, false],
    ['created_on,like,2018-%', 'created_on,like,2018-%', true],
  ])('%s goes as %s; the server can answer it: %s', (text, wire, serverCanAnswer) => {
    expect(parseFilter(text, NOW)).toMatchObject({ wire, serverCanAnswer });
  });

  it.each([
    ['', "no operator and no value in --filter ''", 'write field,operator,value'],
    ['ubuntu', "no operator and no value in --filter 'ubuntu'", 'write field,operator,value'],
    ['name,eq', "no value in --filter 'name,eq'", 'write field,operator,value'],
    ['name,eq,', "no value in --filter 'name,eq,'", 'write name,eq,null'],
    ['nam,eq,x', "unknown field 'nam' in --filter 'nam,eq,x'", 'did you mean name? valid: id,'],
    [',eq,x', "no field in --filter ',eq,x'", 'valid: id, name, path'],
    ['__proto__,eq,x', "unknown field '__proto__' in", 'valid: id, name, path'],
    ['constructor,eq,x', "unknown field 'constructor' in", 'valid: id, name, path'],
    ['name,,x', "no operator in --filter 'name,,x'", 'valid: eq, ne, lt, le, gt, ge, like, in'],
    ['name,lik,x', "unknown operator 'lik' in", 'did you mean like? valid: eq,'],
    ['name, like,x', "unknown operator ' like' in", 'did you mean like?'],
    ['id,>=,3', "unknown operator '>=' in", 'did you mean ge?'],
    ['id,gte,3', "unknown operator 'gte' in", 'did you mean ge?'],
    ['name,contains,x', "unknown operator 'contains' in", 'did you mean like?'],
    ['name,__proto__,x', "unknown operator '__proto__' in", 'valid: eq,'],
    ['id,eq,abc', "'abc' is not a whole number, in --filter 'id,eq,abc'", 'as in id,eq,42'],
    ['id,eq,1.5', "'1.5' is not a whole number, in", 'id takes whole numbers'],
    ['id,lt,null', "'null' is not a whole number, in", 'id takes whole numbers'],
    [
      'id,eq,9007199254740993',
      "'9007199254740993' is not a whole number",
      'id takes whole numbers',
    ],
    ['id,in,1,x', "'x' is not a whole number, in", 'id takes whole numbers'],
    ['id,in,1,,2', "an empty item in --filter 'id,in,1,,2'", ''],
    ['public,eq,maybe', "'maybe' is neither true nor false, in", 'write public,eq,true'],
    ['created_on,ge,notatime', "'notatime' is not a time, in", 'write 2024-01-31,'],
    ['created_on,ge,30d', "'30d' is not a time, in", 'did you mean -30d? write'],
    [
      'created_on,ge,2018-07-18 Thu 15:36:49 EDT',
      "'2018-07-18 Thu 15:36:49 EDT' is not a time",
      'did you mean 2018-07-18 Wed 15:36:49 EDT? write',
    ],
  ])('%j: %s', (text, message, hint) => {
    const error = thrownBy(() => parseFilter(text, NOW));
    expect(error.code).toBe('usage');
    expect(error.message).toContain(message);
    expect(error.hint).toContain(hint);
  });

  it('cuts a long filter in its message', () => {
    const error = thrownBy(() => parseFilter(`id,eq,${'x'.repeat(100_000)}`, NOW));
    expect(error.message.length).toBeLessThan(200);
  });
});
