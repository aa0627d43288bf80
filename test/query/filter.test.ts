// --filter: what is accepted, and the errors.

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
    ['id,in,1,02,-3', 'id,in,1,2,-3', true],
    ['id,in, 1, 02 ,3', 'id,in,1,2,3', true],
    ['name,in,a , b', 'name,in,a,b', true],
    ['public,eq,TRUE', 'public,eq,true', true],
    ['folder,eq,null', 'folder,eq,null', false],
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
  ])('parses %s as %s; serverCanApply: %s', (text, wire, serverCanApply) => {
    expect(parseFilter(text, NOW)).toMatchObject({ wire, serverCanApply });
  });

  it.each([
    ['', "missing operator and value in --filter ''", 'use field,operator,value'],
    ['ubuntu', "missing operator and value in --filter 'ubuntu'", 'use field,operator,value'],
    ['name,eq', "missing value in --filter 'name,eq'", 'use field,operator,value'],
    ['name,eq,', "missing value in --filter 'name,eq,'", 'use name,eq,null'],
    ['nam,eq,x', "unknown field 'nam' in --filter 'nam,eq,x'", 'did you mean name? valid: id,'],
    [',eq,x', "missing field in --filter ',eq,x'", 'valid: id, name, path'],
    ['__proto__,eq,x', "unknown field '__proto__' in", 'valid: id, name, path'],
    [
      'name,,x',
      "missing operator in --filter 'name,,x'",
      'valid: eq, ne, lt, le, gt, ge, like, in',
    ],
    ['name,lik,x', "unknown operator 'lik' in", 'did you mean like? valid: eq,'],
    ['name, like,x', "unknown operator ' like' in", 'did you mean like?'],
    ['id,>=,3', "unknown operator '>=' in", 'valid: eq, ne, lt, le, gt, ge, like, in'],
    ['name,__proto__,x', "unknown operator '__proto__' in", 'valid: eq,'],
    [
      'id,eq,abc',
      "invalid number 'abc' in --filter 'id,eq,abc'",
      'use a whole number, for example id,eq,42',
    ],
    ['id,lt,null', "invalid number 'null' in", 'use a whole number'],
    ['id,eq,9007199254740993', "invalid number '9007199254740993' in", 'use a whole number'],
    ['id,in,1,x', "invalid number 'x' in", 'use a whole number'],
    ['id,in,1,,2', "empty item in --filter 'id,in,1,,2'", 'use id,eq,null'],
    ['public,eq,maybe', "invalid value 'maybe' in", 'use public,eq,true or public,eq,false'],
    ['created_on,ge,notatime', "invalid time 'notatime' in", 'use 2024-01-31,'],
    ['created_on,ge,30d', "invalid time '30d' in", 'did you mean -30d? use'],
    [
      'created_on,ge,2018-07-18 Thu 15:36:49 EDT',
      "invalid time '2018-07-18 Thu 15:36:49 EDT' in",
      'did you mean 2018-07-18 Wed 15:36:49 EDT? use',
    ],
  ])('rejects %j: %s', (text, message, hint) => {
    expect(thrownBy(() => parseFilter(text, NOW))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
  });

  it('cuts a long filter in the message', () => {
    const error = thrownBy(() => parseFilter(`id,eq,${'x'.repeat(100_000)}`, NOW));
    expect(error.message.length).toBeLessThan(200);
  });
});
