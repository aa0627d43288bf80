// login with two services: what each profile, address and password leads to, and what is saved.

import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fakeTerminal, temporaryDirectory } from '../../support/io.ts';
import { expectSteps } from '../../support/steps.ts';
import { writeOva } from '../../support/uploads.ts';
import { emulatorUser, localUser } from '../../support/users.ts';

const UPLOADS = { 'upload-url': 'file:///mnt/uploads', 'upload-username': 'uploader' };

/** A user of two services, whose default profile has a storage, and the address of the first one if `hasAddress`. */
async function userOfTwo(hasAddress: boolean) {
  const services = await Promise.all([emulatorUser({ images: 3 }), emulatorUser({ images: 3 })]);
  const [own, other] = services.map(({ emulator }) => emulator.baseUrl) as [string, string];
  const stored = { ...UPLOADS, ...(hasAddress && { 'base-url': own, username: 'demo' }) };
  const user = localUser({ profiles: { default: stored } });
  const saved = () => JSON.parse(readFileSync(user.file, 'utf8')).profiles;
  const requests = () => services.map((service) => service.requests.length);
  return { ...user, own, other, stored, saved, requests };
}

const rows = [true, false].flatMap((hasAddress) =>
  ['option', 'variable', 'prompt', 'profile'].flatMap((source) =>
    ['same', 'another'].flatMap((service) =>
      [['right', 'terminal'] as const, ['wrong', 'pipe'] as const].map(
        (rest) => [hasAddress, source, service, ...rest] as const,
      ),
    ),
  ),
);

describe('login', () => {
  it.each(
    rows.filter(([hasAddress, source, service]) => {
      // A prompt appears only without an address; the profile has only its own.
      if (source === 'prompt') return !hasAddress;
      return source !== 'profile' || (hasAddress && service === 'same');
    }),
  )(
    'to a profile with an address: %s; from the %s; %s service; %s password; %s',
    async (hasAddress, source, service, password, where) => {
      const { imgctl, own, other, stored, saved, requests } = await userOfTwo(hasAddress);
      // Addresses are compared as parsed.
      const address = service === 'same' ? `${own}/` : other;
      const secret = password === 'right' ? 'demo' : 'wrong';
      const isTerminal = where === 'terminal';
      const line = ['login', '-u', 'demo', ...(source === 'option' ? ['--base-url', address] : [])];
      const keys = `${source === 'prompt' ? `${address}\r` : ''}${secret}\r`;
      const result = await imgctl(line, {
        ...(isTerminal && { stdin: fakeTerminal(keys) }),
        env: {
          ...(source === 'variable' && { IMGCTL_BASE_URL: address }),
          ...(!isTerminal && { IMGCTL_PASSWORD: secret }),
        },
      });
      const isForeign = hasAddress && service === 'another';
      const isUnasked = source === 'prompt' && !isTerminal;
      const isRight = !isForeign && !isUnasked && password === 'right';
      const count = isForeign || isUnasked ? 0 : 1;
      const target = service === 'same' ? own : other;
      const login = { ...stored, 'base-url': hasAddress ? own : target, username: 'demo' };
      expect({
        exitCode: result.exitCode,
        requests: requests(),
        saved: saved(),
      }).toEqual({
        exitCode: isForeign || isUnasked ? 2 : isRight ? 0 : 4,
        requests: service === 'same' ? [count, 0] : [0, count],
        saved: { default: isRight ? login : stored },
      });
      const said = result.stderr.replaceAll(/\s+/g, ' ');
      const host = new URL(other).host.replaceAll(/[.:]/g, '-');
      expect(said).toContain(
        isForeign
          ? `profile default belongs to ${own} hint: for the other service: imgctl login --profile ${host} --base-url ${other}; or if this one has moved: imgctl config set base-url ${other}`
          : isUnasked
            ? 'cannot prompt for the base URL without a terminal'
            : isRight
              ? `ogged in to ${target} as demo`
              : 'Invalid username and password combination',
      );
    },
  );
});

describe('a service that is not that of the profile', () => {
  it('gets no password of a profile whose address was removed, until it is moved there', async () => {
    const { imgctl, own, other, stored, file, saved, requests } = await userOfTwo(true);
    const command = { 'password-command': 'echo demo' };
    writeFileSync(file, JSON.stringify({ profiles: { default: { ...stored, ...command } } }));
    const belongs = new RegExp(`^imgctl: profile default belongs to ${own}\nhint: `);
    const address = fakeTerminal(`${other}\r`);
    const moved = new RegExp(
      `^imgctl: ${other} will get the password of the setting password-command\nhint: if it is another service, run: imgctl config unset password-command --profile default\nimgctl: lock files, .* still belong to ${own}\n`,
    );
    await expectSteps(
      imgctl,
      ['config unset base-url'],
      ['images list', '', /no service address is set/, 2],
      [`IMGCTL_BASE_URL=${other} images list`, '', /not logged in/, 4],
      [`IMGCTL_BASE_URL=${other} login`, '', belongs, 2],
      [`IMGCTL_BASE_URL=${other} config set username bob`, '', /belongs to/, 2],
      [
        `IMGCTL_BASE_URL=${other} config unset upload-username`,
        '',
        `imgctl: removed the setting upload-username, which was for ${own}\n`,
      ],
      [`IMGCTL_BASE_URL=${own}/ images list -q`, /^\d+\n/],
    );
    expect((await imgctl('login', { stdin: address })).stderr).toMatch(/belongs to/);
    expect(requests()[1]).toBe(0);
    await expectSteps(
      imgctl,
      [`config set base-url ${other}`, '', moved],
      ['images list -q', /^\d+\n/],
    );
    const { 'upload-username': _, ...left } = stored;
    expect(saved()).toEqual({ default: { ...left, ...command, 'base-url': other } });
    const keys = Object.keys(saved().default);
    for (const key of keys)
      expect(await imgctl(`config unset ${key}`)).toMatchObject({ stderr: '' });
    expect(saved()).toEqual({ default: {} });
  });

  it('gets its own login and profile by the hints, and the other keeps account and storage', async () => {
    const { imgctl, other, stored, saved, requests } = await userOfTwo(true);
    const name = new URL(other).host.replaceAll(/[.:]/g, '-');
    const login = `imgctl login --profile ${name} --base-url ${other}`;
    const none = `imgctl: not logged in to ${other}\nhint: `;
    await expectSteps(
      imgctl,
      [`images list --base-url ${other}`, '', `${none}run: ${login}\n`, 4],
      [`images list --base-url ${other} --profile default`, '', `${none}run: ${login}\n`, 4],
      [`IMGCTL_BASE_URL=${other} sync`, '', `${none}run: ${login}\n`, 4],
      [
        `IMGCTL_BASE_URL=${other} images list --profile default`,
        '',
        `imgctl: warning: IMGCTL_BASE_URL selects ${other}, not ${stored['base-url']} of profile default\nhint: unset IMGCTL_BASE_URL\n${none}run: ${login}\n`,
        4,
      ],
      [
        'IMGCTL_BASE_URL=https://bob:secret@b.example images list --profile default',
        '',
        `imgctl: warning: IMGCTL_BASE_URL selects …@b.example, not ${stored['base-url']} of profile default\nhint: unset IMGCTL_BASE_URL\nimgctl: base URL must not contain a user name or password (from IMGCTL_BASE_URL)\nhint: remove them from the URL, then run: imgctl login --profile b-example\n`,
        2,
      ],
      [
        `logout --base-url ${other}`,
        '',
        `imgctl: warning: profile default was not logged out: it belongs to ${stored['base-url']}\nhint: omit --base-url\n`,
      ],
      [`config get username --base-url ${other}`, '', /^imgctl: username is not set\n/, 5],
      [
        `IMGCTL_BASE_URL=${other} config set upload-url file:///mnt/other`,
        '',
        /belongs to .*\nhint: for the service of this run: IMGCTL_UPLOAD_URL=VALUE\n/,
        2,
      ],
      [`config get upload-url --base-url ${other}`, '', /upload-url is not set/, 5],
      // Consent for one service is none for another.
      [
        'images list --base-url http://192.0.2.1',
        '',
        /or allow plain http: IMGCTL_ALLOW_HTTP=true\n$/,
        2,
      ],
      [`IMGCTL_PASSWORD=demo ${login.slice(7)} -u demo`, '', /logged in to /],
      [
        `images list --base-url ${other}`,
        '',
        `${none}use the profile of this service: --profile ${name}\n`,
        4,
      ],
      [
        `push ${writeOva(temporaryDirectory(), 'web')} --base-url ${stored['base-url']} --profile ${name}`,
        '',
        /no upload storage is set\nhint: use the profile of this service: --profile default\n$/,
        2,
      ],
      [`images list -q --profile ${name}`, /^\d+\n/],
      [`doctor --upload --profile ${name}`, /no upload storage is set/, /storage/, 2],
    );
    expect(requests()[0]).toBe(0);
    expect(saved()).toEqual({
      default: stored,
      [name]: { 'base-url': other, username: 'demo' },
    });
  });
});
