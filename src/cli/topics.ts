// The help topics; a test runs every shell line.

import { SECRETS } from '../config/definitions.ts';
import {
  DATA_FORMAT_LIST,
  DOCUMENT_FORMAT_LIST,
  FORMATS,
  JSON_ERRORS_LIST,
  LINE_FORMAT_LIST,
  STREAM_FORMAT_LIST,
} from '../output/formats.ts';
import { FIELDS } from '../query/fields.ts';
import { describeHiddenWords } from '../query/find-versions.ts';
import {
  type Block,
  lines,
  meanings,
  optionTerm,
  shell,
  type Term,
  terms,
} from './command-types.ts';
import { ALL_GLOBAL_OPTIONS } from './global-options.ts';

export const TOPICS = [
  { name: 'options', summary: 'options of every command' },
  { name: 'filters', summary: 'filters, search words and sorting of images' },
  { name: 'choosing', summary: 'choosing, locking and watching images' },
  { name: 'output', summary: 'output formats, columns and timestamps' },
  { name: 'environment', summary: 'environment variables and sources of the password' },
  { name: 'fleet', summary: 'one token for many machines' },
  { name: 'exit-codes', summary: 'exit codes and the format of errors' },
] as const;

export const TOPIC_NAMES: readonly string[] = TOPICS.map(({ name }) => name);

/** The variables of secrets, but for those that the topic fleet explains. */
const OWN_SECRETS = Object.values(SECRETS).flatMap(([name, , meaning]): Term[] =>
  meaning === undefined ? [] : [[name, meaning]],
);

export const PAGES: Readonly<Record<(typeof TOPICS)[number]['name'], readonly Block[]>> = {
  options: [
    'These options work before or after the name of a command:',
    terms(...ALL_GLOBAL_OPTIONS.map(optionTerm)),
    'A duration is a number with a unit: 500ms, 30s, 5m, 1h, 2d or 3w. In a path, ~/ is your home. An option overrides the environment variable and the setting of the same name.',
    shell('imgctl images list --json', 'imgctl whoami --profile staging --timeout 5s'),
  ],

  filters: [
    shell(
      'imgctl images list ubuntu 22.04',
      "imgctl images list -f 'name~2024' -f folder=ubuntu",
      "imgctl images list -f 'updated_on>=30d' -s updated_on,desc",
      "imgctl images list rocky 9 -f 'name!~9.5' -f 'name!~minimal'",
    ),
    'Words: the name must match every word. Case is ignored. Letters match any part of a name, numbers only whole numbers (see "imgctl help choosing"). To find digits anywhere, use ~.',
    "Filters: a field, an operator and a value: -f 'id<=1100' (quoted for the shell) or -f id,le,1100. A value can contain commas. All filters must match.",
    terms(
      ['fields', FIELDS.join(', ')],
      ['= != (eq ne)', 'equal, not equal; =null and !=null test for a missing value'],
      ['< <= > >= (lt le gt ge)', 'less than, at most, greater than, at least'],
      ['~ !~', 'contains this text (not a regular expression), or does not'],
      ['like notlike', 'a pattern for the whole value; % matches any text'],
      ['in', 'one of several values, separated by commas'],
    ),
    shell(
      "imgctl images list -f 'folder!=null' -f name,like,%.ova",
      'imgctl images list -f id,in,1002,1003,1006',
    ),
    'id takes a whole number, public takes true or false. ~ and like ignore case; other comparisons of text do not. An image without a value for the field:',
    terms(['matches', '=null, != any value, !~, notlike'], ['does not match', 'all other filters']),
    'Times: created_on and updated_on accept one of these:',
    terms(
      ['15m, 12h, 30d, 2w, 1y', 'this long ago'],
      ["2024-01-31, '2024-01-31 12:00'", 'in your own time zone, as tables show times'],
      ['2024-01-31T12:00:00Z', 'ISO 8601 with its offset'],
      ["'2018-07-18 Wed 15:36:49 EDT'", 'as the service writes it'],
    ),
    '2024-01-31 means the whole day, 12:00 the whole minute: = matches any time in it, < and > leave it out, <= and >= include it.',
    shell(
      "imgctl images list -f 'created_on>=2024-01-01' -f 'created_on<2026-01-01'",
      "imgctl images list -f 'updated_on<=2025-12-31'",
    ),
    'Sorting: -s field or -s field,desc. Repeat -s for more fields, most significant first. name:version puts 8.10 after 8.9. Missing values come first. Text is sorted by code point.',
    'Zones: some names, such as IST, have several meanings. If a filter depends on the meaning, the image is shown, and a warning counts such images. CST, MST and PST are North American.',
  ],

  choosing: [
    shell(
      'imgctl images latest ubuntu server --get path',
      'imgctl images latest debian --each',
      'imgctl images list ubuntu -s created_on,desc -n 1',
    ),
    'Words: letters match any part of a name, numbers only whole numbers; leading zeros do not count. A word of digits must match the start of a version. You can write -, _, . or a space for each other, or omit them between a letter and a digit.',
    terms(
      ['8', 'matches 8, v8 and 8.10, not 18, 9.8, SP8 or x86_64'],
      ['22.04', 'matches 22.04.1, 22-04 and 22.4, not 2204'],
      ['rocky9', 'matches Rocky-9.4, not rocky-19'],
    ),
    'Versions: numbers joined by dots, with a letter, sp, patch, hotfix, cu, rc, alpha or beta before or after them. A v before a number is ignored.',
    terms(
      ['versions', '22.04, 7.0U3c, SP5, rc.1, 5.2-hotfix2, b20240115'],
      ['not versions', describeHiddenWords()],
      ['not compared', 'git hashes: a383732, b5969303, g1234567'],
    ),
    'Series: names with the same words, such as ubuntu-#-server-cloudimg-amd64-#.ova. A version can have any number of parts: 24.04 and 24.04.3 are in one series.',
    'Order: versions are compared from left to right: 8.10 is newer than 8.9, and 1.2.3-50 than 1.2-100. A longer version is newer, except alpha, beta and rc: 1.0.1 is newer than 1.0, and 1.0 than 1.0-rc1. Of two images with the same name, apart from git hashes, the one created later is newer. Update times are ignored.',
    'No guess: "images latest" asks you to choose, or exits with 2 in a script, if several series match, a word matches different numbers in one series, or the names do not tell which image is newer: the newest may be a pre-release (2.1-rc1, 1.0b2), words or lengths differ (12_sp3 and 12_2021, 1.2-3 and 1.2.4), or the year of a date comes last. Then choose by time.',
    'imgctl compares numbers and does not know products: Leap 42.3 counts as newer than 15.0, rhel810 as newer than rhel94. "images list -s name:version" uses the same rules, but never refuses: it guesses.',
    'Locks: commit images.lock.json, so that every build uses the same images.',
    shell(
      'imgctl images lock add web ubuntu server',
      'imgctl images get --lock web --get path',
      'imgctl images lock update',
    ),
    'Changes: "images changes" shows what changed since its last run. Give each job its own --cursor.',
  ],

  output: [
    shell(
      'imgctl images list --time age -s updated_on,desc --limit 10',
      'imgctl images list -o csv --time local',
    ),
    'Formats: -o FORMAT, or --json for -o json. IMGCTL_OUTPUT or the setting output changes the default, except for token, version, config get and config path, which print only a value. The format is the same in a pipe. Only colour, width and progress differ, and the columns of images changes and sync-status --list.',
    terms(...Object.entries(FORMATS).map(([name, { meaning }]): Term => [name, meaning])),
    `Columns: --columns a,b selects the fields and their order in every format; "all" selects all ${FIELDS.length} of the service. By default tables, ${LINE_FORMAT_LIST} show id, name, folder and updated_on; ${DATA_FORMAT_LIST} show all fields, including those imgctl does not know.`,
    'Times: --time STYLE selects the format of image timestamps.',
    terms(
      ['raw', 'as the service sent them: 2018-07-18 Wed 15:36:49 EDT'],
      ['iso', 'in UTC: 2018-07-18T19:36:49Z'],
      ['local', 'in your own time zone, only in tables and csv: 2018-07-18 21:36'],
      ['age', 'how long ago, only in tables: 3 months ago'],
    ),
    'Without --time, tables are local (or as the setting time says); the other formats and --get are iso. A time in an unknown zone is shown as the service sent it.',
    'Programs: the help of each command names the fields of its JSON output. From 1.0.0 on, within a major version, fields are added, but never renamed or removed, and exit codes and codes of errors stay. In --meta, count is the number of images printed, total the number that match, or null if unknown; the rest is what the service sent with the first page.',
    `A missing value is - in a table, and an empty cell in ${LINE_FORMAT_LIST}; with --get, nothing, and exit code 5. An empty result is [] in ${DOCUMENT_FORMAT_LIST}, nothing in ${STREAM_FORMAT_LIST}, only the header in ${LINE_FORMAT_LIST}; on a terminal, a note replaces an empty table. The exit code is 0 unless you add --fail-empty.`,
    'On a terminal, control characters are escaped as in JSON: \\u001b. Colour is used on a terminal only; --color, NO_COLOR, FORCE_COLOR and TERM=dumb override that. A narrow table hides data_store, then folder, below 64 columns also updated_on, unless -c names them, and shortens names; a line below names the hidden columns. If that is not enough, each image is shown as a record. --no-trunc shows everything.',
  ],

  environment: [
    shell('IMGCTL_PROFILE=staging imgctl images list', 'IMGCTL_TIMEOUT=5s imgctl whoami'),
    'An option overrides a variable, and a variable overrides the profile. An empty variable counts as unset. Every setting KEY has the variable IMGCTL_KEY, in capitals and with _ for - and .: IMGCTL_BASE_URL, IMGCTL_UPLOAD_URL, IMGCTL_CA_FILE, IMGCTL_COLUMNS_IMAGES (see "imgctl config --help").',
    meanings({
      IMGCTL_PROFILE: 'use the settings and token of this profile',
      ...Object.fromEntries(OWN_SECRETS),
      'AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION':
        'and AWS_DEFAULT_REGION: for S3, if nothing above gives a key or token; only for amazonaws.com (.cn) and the host of AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL',
      IMGCTL_TOKEN: 'an access token; never cached, never renewed',
      IMGCTL_DEBUG: 'set it to 1 to trace requests, without secrets',
      IMGCTL_CONFIG_DIR: 'one folder for all but compiled code; it is trusted, whoever owns it',
      XDG_CONFIG_HOME: 'its imgctl folder holds settings and tokens (~/.config)',
      XDG_STATE_HOME: 'its imgctl folder holds sync history and cursors (~/.local/state)',
      XDG_CACHE_HOME: 'its imgctl folder holds caches and compiled code (~/.cache)',
      'HTTPS_PROXY, HTTP_PROXY':
        'proxy URL, such as http://user:password@host:port; never used for this machine',
      NO_PROXY:
        'hosts to reach without the proxy: names (with subdomains), addresses, ranges (10.0.0.0/8), or *, separated by commas',
      NODE_EXTRA_CA_CERTS: 'additional trusted certificates, like the setting ca-file',
      'NO_COLOR, FORCE_COLOR': 'turn colour off or on',
    }),
    'If no token is valid, imgctl looks for the password in this order: an option, a variable, the profile, the credential helper, the system keychain; of each, first the secret itself, then a file, then a command: IMGCTL_PASSWORD, IMGCTL_PASSWORD_FILE, IMGCTL_PASSWORD_COMMAND. A secret with the variable NAME also has NAME_FILE, a file whose first line is the secret. Only "imgctl login" prompts for the password.',
    'A credential helper is a program that speaks Docker\'s protocol: "imgctl config set credential-helper pass" runs docker-credential-pass. Others are wincred, osxkeychain and secretservice.',
    'The password command runs in a shell, without secrets in its variables. Each source must provide the password within 30 s. A command that still runs 2 s after its first line is stopped, and the line is used.',
  ],

  fleet: [
    'The service allows only a few token requests per account. By default each machine stores its own token. With a shared token store, one machine requests a token and all others use it.',
    meanings({
      'token-store, IMGCTL_TOKEN_STORE':
        'file (default), or the URL of a Redis server, such as rediss://user@host:6379/0; redis:// without TLS is only for this machine, unless allow-http is true',
      'IMGCTL_TOKEN_STORE_PASSWORD, IMGCTL_TOKEN_STORE_PASSWORD_FILE':
        'the password of the Redis user, or a file whose first line is that password; or set token-store-password-command',
      'IMGCTL_TOKEN_STORE_KEY, IMGCTL_TOKEN_STORE_KEY_FILE':
        'a key that encrypts tokens, the same on all machines, as openssl rand -base64 32 prints it; or a file whose first line is that key',
    }),
    'Each machine also caches the token and uses it while it is valid. If the store cannot be used within 2 s, imgctl prints one warning, and uses or requests a token for this machine.',
    'With --wait-for-token DURATION, or the setting wait-for-token, a command waits if the service allows no login now, instead of exiting with 6. If another machine gets a token meanwhile, the command uses it.',
    'doctor checks the store; whoami shows which is used. Do not log in on every machine, because each login requests a token: set base-url, username and password-file with "imgctl config set".',
  ],

  'exit-codes': [
    'Exit codes:',
    meanings({
      '0': 'success, including an empty list',
      '1': 'the operation failed: server error, failed sync, unreadable response, invalid package, file locked by another imgctl',
      '2': 'usage or configuration error',
      '3': 'network error: unreachable, TLS, timeout',
      '4': 'not logged in, wrong credentials, not permitted',
      '5': 'not found, or no image matched (lists: only with --fail-empty)',
      '6': 'rate limited; try again at the time shown, or use --wait-for-token',
      '7': 'still waiting when --wait-timeout expires',
      '10': 'with --exit-code: there are changes',
      '129': 'the terminal was closed (SIGHUP); ignored under nohup',
      '130': 'interrupted (Ctrl-C)',
      '131': 'quit (SIGQUIT)',
      '143': 'terminated (SIGTERM)',
    }),
    'A pipe that closes early (imgctl images list | head -1) is not an error.',
    'Errors are printed on stderr, never on stdout:',
    lines('imgctl: <what happened>', 'hint: <the command or setting that helps>'),
    `With -o ${JSON_ERRORS_LIST}, each error, warning, note and line of progress or --debug is one JSON object on one line instead:`,
    lines(
      '{"error": {"code", "message", "details", "hint", "status", "exitCode"}}',
      '{"warning": {"code", "message", "details", "hint"}}',
      '{"note": {"message", "hint"}}',
      '{"debug": {"message"}}',
      '{"progress"}',
    ),
  ],
};
