// What an error or a warning knows besides its message: src/cli/hints.ts makes a hint of it.

/** A command of imgctl: the words after the name of the program. */
export interface Invocation {
  readonly imgctl: readonly string[];
}

/** Whose address it is: the base URL, or the upload URL. */
export type AddressOf = 'service' | 'storage';

/** Facts by kind. Most folders know no command, option or setting: they say what is wrong. */
export type Facts =
  /** Advice that names no command, option or setting of imgctl. */
  | { readonly kind: 'advice'; readonly text: string }
  /** What a command says itself: texts, commands that are printed for the run, and other facts. */
  | { readonly kind: 'hint'; readonly parts: readonly (string | Invocation | Facts)[] }
  /** What shows, sets or removes a setting: a command, or the option or variable that set it. */
  | {
      readonly kind: 'setting';
      readonly verb: 'get' | 'set' | 'unset';
      readonly key: string;
      readonly text?: string | undefined;
    }
  /** There is no valid token. */
  | { readonly kind: 'login-needed' }
  | { readonly kind: 'username-needed' }
  | { readonly kind: 'storage-needed' }
  /** No token replaces a refused one. @param given where it is from, unless from a login */
  | { readonly kind: 'token-refused'; readonly given?: string | undefined }
  /** A password was refused. @param origin where it is from; undefined if typed at a prompt */
  | {
      readonly kind: 'password-refused';
      readonly origin?: string | undefined;
      readonly username?: string | undefined;
    }
  /** A password that a login has stored is missing, damaged or refused. @param lead what to do */
  | { readonly kind: 'stored-password'; readonly lead: string }
  /**
   * The service allows no token request before an instant (milliseconds since the epoch).
   * @param wait until then
   */
  | { readonly kind: 'token-limit'; readonly resetsAt: number; readonly wait: number }
  /** The system keychain cannot be used. @param fix what would help, if anything */
  | { readonly kind: 'keychain'; readonly fix: string | undefined }
  | { readonly kind: 'helper-missing' }
  /** A command for a secret failed. @param isTyped on the command line */
  | {
      readonly kind: 'secret-command';
      readonly setting: string;
      readonly command: string;
      readonly isTyped: boolean;
    }
  /** Machines share no tokens for the rest of the run. */
  | { readonly kind: 'store-failed' }
  /** A token in the shared store cannot be read. */
  | { readonly kind: 'store-token'; readonly needsKey: boolean }
  /**
   * An address may be wrong.
   * @param part of it; all if undefined.
   * @param more is what else may be the reason
   */
  | {
      readonly kind: 'check-address';
      readonly of: AddressOf;
      readonly part?: 'host' | 'port' | 'host and port' | 'scheme and port';
      readonly more?: string | undefined;
    }
  | { readonly kind: 'needs-tls'; readonly of: AddressOf; readonly otherwise?: string | undefined }
  /** The service or the storage may have moved. */
  | { readonly kind: 'moved'; readonly of: AddressOf }
  /** The base URL has the path of the API, which each request adds. @param url without it */
  | { readonly kind: 'path-twice'; readonly url: string }
  /** A certificate is not trusted. @param hasOthers true if others were given, as by ca-file */
  | { readonly kind: 'untrusted'; readonly of: AddressOf; readonly hasOthers: boolean }
  /** @param milliseconds that the request had */
  | { readonly kind: 'timeout'; readonly of: AddressOf; readonly milliseconds: number }
  /**
   * What was received is too large.
   * @param hasQuery the request has a query, which may ask for less
   */
  | { readonly kind: 'too-large'; readonly of: AddressOf; readonly hasQuery?: boolean }
  /** The service limits requests. */
  | { readonly kind: 'limited' }
  /** The service asks to wait: until an instant (milliseconds since the epoch) if it says so. */
  | {
      readonly kind: 'retry-later';
      readonly resetsAt: number | undefined;
      readonly wait: number;
      readonly hasFailed: boolean;
      readonly wasRetried: boolean;
    }
  | { readonly kind: 'no-such-image' }
  /** The service has no such page. @param page one that it has */
  | { readonly kind: 'other-page'; readonly page: number }
  /** A body that is too large to be understood. */
  | { readonly kind: 'unread-body'; readonly url: string }
  /** A sync may have been submitted. */
  | { readonly kind: 'sync-unknown' }
  /** A bucket is in another region. @param used is the region that the upload URL names */
  | { readonly kind: 'region'; readonly region?: string; readonly used?: string | undefined }
  | { readonly kind: 'storage-user' }
  | { readonly kind: 'temporary-keys' }
  /** The storage has another file of this name. @param note says more */
  | { readonly kind: 'conflict'; readonly note?: string | undefined }
  /** A URL would send credentials without encryption. @param secure instead */
  | { readonly kind: 'plain-http'; readonly secure: string }
  | { readonly kind: 'credentials-in-url' }
  /** imgctl would have to hold more of the list than it may. */
  | { readonly kind: 'list-too-large' }
  /**
   * A snapshot is damaged, missing or too old. No file: it is no snapshot, so it is not replaced.
   */
  | { readonly kind: 'snapshot'; readonly file: string | undefined }
  | { readonly kind: 'no-home' }
  /** The folder of the settings cannot be written. */
  | { readonly kind: 'not-writable' };

/** What to do: a text as it is, or facts, of which src/cli/hints.ts makes a text. */
export type Advice = string | Facts;

export function advice(text: string): Facts {
  return { kind: 'advice', text };
}

export function imgctl(...words: readonly string[]): Invocation {
  return { imgctl: words };
}

export function setting(verb: 'get' | 'set' | 'unset', key: string, text?: string): Facts {
  return { kind: 'setting', verb, key, text };
}

/** Makes a hint of a template, whose values are texts, commands and other hints. */
export function hint(
  texts: readonly string[],
  ...values: readonly (string | Invocation | Facts)[]
): Facts {
  return { kind: 'hint', parts: texts.flatMap((text, index) => [text, values[index] ?? '']) };
}
