import { definePlugin } from '@tabrelay/plugin-sdk';
import { backlinks } from './tools/backlinks.ts';
import { compareRevisions } from './tools/compare-revisions.ts';
import { createPage } from './tools/create-page.ts';
import { currentUser } from './tools/current-user.ts';
import { deleteMedia } from './tools/delete-media.ts';
import { deletePage } from './tools/delete-page.ts';
import { editPage } from './tools/edit-page.ts';
import { listMedia } from './tools/list-media.ts';
import { listPages } from './tools/list-pages.ts';
import { listSubscriptions } from './tools/list-subscriptions.ts';
import { pageHistory } from './tools/page-history.ts';
import { readMedia } from './tools/read-media.ts';
import { readPage } from './tools/read-page.ts';
import { readRendered } from './tools/read-rendered.ts';
import { recentChanges } from './tools/recent-changes.ts';
import { revertPage } from './tools/revert-page.ts';
import { search } from './tools/search.ts';
import { subscribe } from './tools/subscribe.ts';
import { uploadMedia } from './tools/upload-media.ts';
import { findWiki, signIn } from './wiki.ts';

export default definePlugin({
  tools: [
    search,
    listPages,
    readPage,
    readRendered,
    pageHistory,
    compareRevisions,
    recentChanges,
    backlinks,
    editPage,
    createPage,
    deletePage,
    revertPage,
    listMedia,
    readMedia,
    uploadMedia,
    deleteMedia,
    listSubscriptions,
    subscribe,
    currentUser,
  ],
  // Most tools work signed out too. What this is for: an answer that is the page to sign in on.
  signIn,
  isReady: () => findWiki(document) !== undefined,
});
