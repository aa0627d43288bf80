// How credentials travel, and what must not show of them.

/** A user name and a password as Basic authentication writes them (RFC 7617). */
export function basicPair(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}

/** The header of the token request, section 3. */
export function basic(username: string, password: string): string {
  return `Basic ${basicPair(username, password)}`;
}

/** The two ways to send a token, section 5. */
export function authorizationOf(scheme: 'bearer' | 'basic', token: string): string {
  return scheme === 'bearer' ? `Bearer ${token}` : basic(token, '');
}

/** What must not show of a token: itself, and its Basic pair. */
export function tokenSecrets(token: string): string[] {
  return [token, basicPair(token, '')];
}

/** Whether a header can hold it: what is no such text is no token, whoever says so. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}
