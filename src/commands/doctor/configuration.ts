// Checks the program, the settings and the environment, all without the network.

import fs from 'node:fs';
import path from 'node:path';
import type { Context } from '../../context.ts';
import { termsOf } from '../../declarations.ts';
import { ImgctlError, valueOrError } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { counted, shellQuote } from '../../output/messages.ts';
import { nearest } from '../../query/suggest.ts';
import {
  isSettingKey,
  SETTING_KEYS,
  type SettingKey,
  STORED_PASSWORD,
} from '../../session/setting-table.ts';
import { configFilePath, type Settings } from '../../session/settings.ts';
import { ENVIRONMENT } from '../help/pages.ts';
import { readColumns } from '../listing.ts';
import { type Finding, failed, notChecked, ok, warning } from './finding.ts';

const MIN_NODE = [20, 19] as const;

export function checkProgram(context: Context): Finding[] {
  const node = context.io.system.runtime;
  const version = /[\d.]+/.exec(node)?.[0] ?? '';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [minMajor, minMinor] = MIN_NODE;
  const isOld = major < minMajor || (major === minMajor && minor < minMinor);
  const hint = `install Node ${MIN_NODE.join('.')} or later`;
  return [
    ok('imgctl', `version ${context.version}`),
    isOld
      ? failed('node', new ImgctlError('config', `${node} is too old`, { hint }))
      : ok('node', node),
  ];
}

/** Also returns the settings for the other checks; undefined without a valid profile name. */
export function checkConfiguration(context: Context) {
  const findings = [configFileFinding(context)];
  const settings = valueOrError(() => context.settings);
  if ('error' in settings) {
    findings.push(failed('profile', settings.error), notChecked('settings', 'profile failed'));
    return { findings, settings: undefined };
  }
  findings.push(...profileFindings(context), ...settingsFindings(context, settings.value));
  return { findings, settings: settings.value };
}

/** Reports an unreadable settings file; all other checks ignore the file. */
function configFileFinding(context: Context): Finding {
  const config = valueOrError(() => context.config);
  if ('error' in config) {
    context.ignoreConfigFile();
    return failed('configuration', config.error);
  }
  const directory = context.paths.config;
  if (directory === undefined) return notChecked('configuration', 'no home directory');
  const file = configFilePath(directory);
  const profiles = counted(config.value.profiles.size, 'profile');
  return ok(
    'configuration',
    fs.existsSync(file) ? `${file}: ${profiles}` : `${file} does not exist yet`,
  );
}

function profileFindings({ config, profileName }: Context): Finding[] {
  const known = [...config.profiles.keys()];
  if (known.length === 0 || known.includes(profileName)) return [ok('profile', profileName)];
  const meant = nearest(profileName, known);
  const finding = `unknown profile ${profileName}; profiles: ${known.join(', ')}`;
  const login = `imgctl login --profile ${profileName}`;
  const remedy = meant === undefined ? login : `use --profile ${meant}, or run: ${login}`;
  return [warning('profile', finding, remedy)];
}

function settingsFindings(context: Context, settings: Settings): Finding[] {
  const stored = Object.keys(context.config.profiles.get(settings.profile) ?? {});
  const unknown = stored.filter((key) => !isSettingKey(key) && key !== STORED_PASSWORD);
  const findings = [
    ...SETTING_KEYS.flatMap((key) => invalidSetting(settings, key)),
    ...unknown.map((key) => unknownSetting(context, key)),
  ];
  if (findings.length > 0) return findings;
  const count = SETTING_KEYS.filter((key) => {
    const { value, source } = settings.resolve(key);
    return value !== undefined && source !== 'default';
  }).length;
  return [ok('settings', `${count} set, all valid; see: imgctl config list`)];
}

function invalidSetting(settings: Settings, key: SettingKey): Finding[] {
  const result = valueOrError(() => {
    const value = settings.text(key);
    if (value !== undefined && key.startsWith('columns.')) readColumns(value, `setting ${key}`);
  });
  if (!('error' in result)) return [];
  const finding = failed('settings', result.error);
  if (settings.find(key).source !== 'profile') return [finding];
  const command = `imgctl config set ${key} VALUE${settings.profileFlag}`;
  return [{ ...finding, remedy: `${command} (${finding.remedy})` }];
}

function unknownSetting({ paths }: Context, key: string): Finding {
  const meant = nearest(key, SETTING_KEYS);
  const finding = `unknown setting ${key}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  const file = shellQuote(configFilePath(paths.config ?? ''));
  return warning('settings', finding, `remove it from ${file}`);
}

const PREFIX = 'IMGCTL_';

/** Every variable that imgctl reads, without the prefix. */
const VARIABLES = termsOf(ENVIRONMENT).flatMap(([name]) =>
  name.startsWith(PREFIX) ? name.slice(PREFIX.length) : [],
);

export function checkEnvironment(io: Io): Finding[] {
  const { env } = io;
  const findings: Finding[] = [];
  const warn = (finding: string, remedy: string) =>
    findings.push(warning('environment', finding, remedy));
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    warn(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: certificates are always verified',
      'unset NODE_TLS_REJECT_UNAUTHORIZED',
    );
  }
  const extra = env.NODE_EXTRA_CA_CERTS;
  if (extra && !fs.existsSync(path.resolve(io.cwd, extra))) {
    warn(`NODE_EXTRA_CA_CERTS file does not exist: ${extra}`, 'unset NODE_EXTRA_CA_CERTS');
  }
  if ((env.ALL_PROXY || env.all_proxy) && !(env.HTTPS_PROXY || env.https_proxy)) {
    warn('ALL_PROXY is ignored', 'set HTTPS_PROXY instead');
  }
  for (const name of Object.keys(env)) {
    const suffix = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined;
    if (suffix === undefined || VARIABLES.includes(suffix)) continue;
    const key = suffix.toLowerCase().replaceAll('_', '-');
    if (isSettingKey(key)) {
      warn(`${name} is ignored: ${key} is only a setting`, `imgctl config set ${key} VALUE`);
      continue;
    }
    const meant = nearest(suffix, VARIABLES);
    const guess = meant === undefined ? '' : `; did you mean ${PREFIX}${meant}?`;
    warn(`${name} is ignored${guess}`, `unset ${name}`);
  }
  return findings.length > 0 ? findings : [ok('environment', 'no problems')];
}
