// A guide as a person follows it: what it says to type, and what it says to put into files.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { repository } from './paths.ts';

export interface GuideFile {
  name: string;
  content: string;
}

/** The files of a guide, in the order they come. */
export async function guideFiles(page: string): Promise<GuideFile[]> {
  const text = await readFile(path.join(repository, 'docs/guides', page), 'utf8');
  return Array.from(
    text.matchAll(/[Pp]ut this into `([^`]+)`:\n\n```\w+\n([\s\S]*?)```/g),
    ([, name, content]) => ({
      name: name ?? '',
      content: content ?? '',
    }),
  );
}

/** Puts one of them into a folder. */
export async function follow(folder: string, { name, content }: GuideFile): Promise<void> {
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
}
