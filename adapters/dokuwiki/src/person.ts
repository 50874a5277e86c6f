// Who is signed in, and what they may do.

import { isSignedIn, open, textOf } from './api.ts';
import { nameOf } from './pages.ts';

const permissions = {
  0: 'none',
  1: 'read',
  2: 'edit',
  4: 'create',
  8: 'upload',
  16: 'delete',
  255: 'admin',
} as const;

export async function whoIsThere(page: string | undefined, signal: AbortSignal) {
  const id = page === undefined ? undefined : nameOf(page);
  const checked = await open({ do: 'check', id }, signal, ['show', 'denied']);
  const signedIn = isSignedIn(checked.page);
  const said = [...checked.page.querySelectorAll('div.info')].map(textOf);
  // What the wiki checks about itself it says in English always.
  const find = (pattern: RegExp) => said.map((line) => pattern.exec(line)?.[1]).find(Boolean) ?? '';
  const level = find(/^Your current permission for this page is (\d+)/);
  const permission = Object.entries(permissions).find(([number]) => number === level)?.[1];
  return {
    signedIn,
    ...(await profile(signedIn, signal)),
    groups: find(/^You are part of the groups (.*)$/)
      .split(', ')
      .filter(Boolean)
      .slice(0, 100),
    ...(permission === undefined ? {} : { permission }),
    wiki: checked.page.querySelector('link[rel="search"]')?.getAttribute('title') ?? '',
  };
}

async function profile(signedIn: boolean, signal: AbortSignal) {
  if (!signedIn) return { login: '', name: '' };
  // A wiki whose accounts are kept elsewhere has no profile to show; what stands at its top is the template's.
  const { page } = await open({ do: 'profile' }, signal, ['show']);
  const field = (name: string) =>
    page.querySelector(`input[name="${name}"]`)?.getAttribute('value');
  const shown = [...page.querySelectorAll('#dokuwiki__usertools .user bdi, .user > bdi')].map(
    textOf,
  );
  return { login: field('login') ?? shown.at(-1) ?? '', name: field('fullname') ?? shown[0] ?? '' };
}
