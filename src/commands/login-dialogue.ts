// The prompts of imgctl login, and the answers to remember if it fails.

import type { Context } from '../context.ts';
import { printable } from '../output/text.ts';
import type { Answers } from '../session/answers.ts';
import { ask, type Prompt } from '../session/prompt.ts';
import { requireBaseUrl } from '../session/session.ts';
import type { SettingFlags, Settings } from '../session/settings.ts';
import type { Account } from '../session/token-store.ts';

const BASE_URL = 'Base URL (https:// if you leave it out)';

export class Dialogue {
  readonly #context: Context;
  readonly #given: Settings;
  #answers: Answers;

  /** @param answers those of a failed login */
  constructor(context: Context, given: Settings, answers: Answers) {
    this.#context = context;
    this.#given = given;
    this.#answers = answers;
  }

  /** What was typed at the prompts or given by options; undefined if nothing was. */
  get answers(): Answers | undefined {
    const { baseUrl, username } = this.#answers;
    return baseUrl === undefined && username === undefined ? undefined : this.#answers;
  }

  /** Returns the settings of the login, after prompts for what is missing. */
  async complete(flags: SettingFlags): Promise<Settings> {
    const baseUrl = await this.#baseUrl();
    const username = this.#given.get('username') ?? (await this.#username());
    const settings = this.#context.settingsWith({ ...flags, 'base-url': baseUrl, username });
    this.#remember('username', username);
    return settings;
  }

  async #baseUrl(): Promise<string> {
    const given = this.#given.text('base-url');
    const fallback = this.#answers.baseUrl;
    const instead = '--base-url or IMGCTL_BASE_URL';
    const baseUrl =
      given ??
      withScheme(await this.#ask({ what: 'base URL', label: BASE_URL, fallback, instead }));
    // Rejected before the next prompt.
    requireBaseUrl(this.#context.settingsWith({ 'base-url': baseUrl }));
    this.#remember('base-url', baseUrl);
    return baseUrl;
  }

  #username(): Promise<string> {
    const { username: fallback } = this.#answers;
    const instead = '--username or IMGCTL_USERNAME';
    return this.#ask({ what: 'user name', label: 'User name', fallback, instead });
  }

  password({ username, baseUrl }: Account): Promise<string> {
    const prompt = {
      what: 'password',
      label: `Password for ${printable(username)} at ${printable(baseUrl)}`,
      hidden: true,
      instead: '--password-stdin, --password-command, IMGCTL_PASSWORD or IMGCTL_PASSWORD_FILE',
    };
    return this.#exclusively(prompt);
  }

  #ask(prompt: Omit<Prompt, 'hidden'>): Promise<string> {
    const { label, fallback } = prompt;
    const suffix = fallback === undefined ? '' : ` [${printable(fallback)}]`;
    return this.#exclusively({ ...prompt, label: label + suffix, hidden: false });
  }

  #exclusively(prompt: Prompt): Promise<string> {
    const { console, io } = this.#context;
    return console.exclusively(() => ask(io, prompt));
  }

  /** Values of the profile and the environment are there for the next login anyway. */
  #remember(key: 'base-url' | 'username', value: string): void {
    const { source } = this.#given.find(key);
    if (source === 'profile' || source === 'environment') return;
    const name = key === 'base-url' ? 'baseUrl' : 'username';
    this.#answers = { ...this.#answers, [name]: value };
  }
}

/** `images.example.com:8443` is a host and port, although it looks like a scheme to a URL parser. */
function withScheme(typed: string): string {
  const text = typed.trim();
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
}
