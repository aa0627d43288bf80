// The schemas of whoami, doctor, config list, profile list and commands, and of errors and notices.

import { EXIT_CODES } from '../../errors.ts';
import { anyOf, listOf, optional, record, type Schema, value, word } from './schema.ts';

const text = (description: string) => value('string', description);
const textOrNull = (description: string) => value(['string', 'null'], description);

export const WHOAMI: Schema = record({
  profile: text('name of the profile'),
  base_url: text('address of the service'),
  username: textOrNull('user name of the account'),
  token: word(['valid', 'expired', 'none', 'from IMGCTL_TOKEN'], 'state of the token'),
  expires_on: textOrNull('when the token expires, in UTC (ISO 8601)'),
  expires_in: value(['number', 'null'], 'seconds until then'),
  stored_in: textOrNull('file or token store that has the token'),
});

export const DOCTOR = listOf(
  record({
    check: text('what was checked'),
    state: word(['ok', 'warning', 'failed', 'not checked'], 'result of the check'),
    finding: text('what was found'),
    remedy: textOrNull('command or setting that fixes it'),
  }),
);

export const SETTINGS_LIST = listOf(
  record({
    key: text('name of the setting'),
    value: textOrNull('value; null if it is not set'),
    origin: textOrNull('where the value comes from'),
    error: textOrNull('why the value is invalid'),
  }),
);

export const PROFILES = listOf(
  record({
    name: text('name of the profile'),
    default: value('boolean', 'true for the default profile'),
    base_url: textOrNull('address of the service'),
    username: textOrNull('user name of the account'),
    token: word(['valid', 'expired', 'none'], 'state of the cached token'),
    password: word(['command', 'helper', 'keychain', null], 'where the password comes from'),
  }),
);

const notice = record({ message: text('one line'), hint: text('what to do about it') });

/** One line of stderr with -o json or ndjson. */
export const MESSAGES = anyOf(
  record({
    error: optional(
      record({
        code: word(Object.keys(EXIT_CODES), 'stable code of the error'),
        message: text('what happened'),
        details: listOf(text('one line'), 'what to choose from or to check'),
        hint: text('what to do about it'),
        status: value('integer', 'HTTP status of the response'),
        exitCode: value('integer', 'exit code of the command'),
      }),
      'details',
      'hint',
      'status',
    ),
  }),
  record({ warning: optional(notice, 'hint') }),
  record({ note: optional(notice, 'hint') }),
);

const PARAMETER = {
  description: text('meaning'),
  type: word(['boolean', 'integer', 'string', 'duration'], 'type of the value'),
  choices: listOf(text('valid value')),
  minimum: value('integer', 'minimum'),
  maximum: value('integer', 'maximum'),
  repeatable: value('boolean', 'true if it can be given several times'),
};

const ARGUMENT = optional(
  record({
    name: text('name of the argument'),
    required: value('boolean', 'true if it must be given'),
    ...PARAMETER,
  }),
  'choices',
  'minimum',
  'maximum',
);

const OPTION = optional(
  record({
    name: text('long name, such as --output'),
    short: text('short name, such as -o'),
    value_name: text('placeholder of the value'),
    default: value(['string', 'integer'], 'value if the option is not given'),
    env: text('environment variable that sets it too'),
    conflicts: listOf(text('option that cannot be used with it')),
    ...PARAMETER,
  }),
  'short',
  'value_name',
  'default',
  'env',
  'conflicts',
  'choices',
  'minimum',
  'maximum',
);

const MEANING = { meaning: text('meaning') };

export const CATALOGUE: Schema = record({
  version: text('version of imgctl'),
  commands: listOf(
    record({
      command: text('words after imgctl'),
      aliases: listOf(text('other name of the command')),
      summary: text('what the command does'),
      description: text('more about the command'),
      mutates: value('boolean', 'true if it may change the service, or settings and files'),
      arguments: listOf(ARGUMENT, 'arguments, in order'),
      options: listOf(OPTION, 'options besides the global ones'),
      output: {
        ...record({
          schema: text('file in docs/schemas'),
          fields: listOf(
            record({
              name: text('name of the field'),
              type: text('JSON type'),
              description: text('meaning'),
            }),
          ),
        }),
        type: ['object', 'null'],
        description: 'fields of the JSON output; null if it prints none',
      },
      exit_codes: listOf(value('integer', 'exit code'), 'exit codes that it can have'),
      examples: listOf(text('shell line')),
    }),
    'every command',
  ),
  global_options: listOf(OPTION, 'options of every command'),
  environment: listOf(record({ name: text('variable'), ...MEANING }), 'environment variables'),
  exit_codes: listOf(record({ code: value('integer', 'exit code'), ...MEANING }), 'exit codes'),
});
