import { definePlugin } from '@tabrelay/plugin-sdk';
import { compareRevisions } from './tools/compare-revisions.ts';
import { createPage } from './tools/create-page.ts';
import { currentUser } from './tools/current-user.ts';
import { editPage } from './tools/edit-page.ts';
import { pageHistory } from './tools/page-history.ts';
import { readPage } from './tools/read-page.ts';
import { readRendered } from './tools/read-rendered.ts';
import { search } from './tools/search.ts';
import { watchList } from './tools/watch-list.ts';
import { watchPage } from './tools/watch-page.ts';
import { findWiki } from './wiki.ts';

export default definePlugin({
  tools: [
    search,
    readPage,
    readRendered,
    pageHistory,
    compareRevisions,
    editPage,
    createPage,
    watchList,
    watchPage,
    currentUser,
  ],
  isReady: () => findWiki(document) !== undefined,
});
