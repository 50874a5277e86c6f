import { definePlugin } from '@tabrelay/plugin-sdk';
import { currentWiki } from './api.ts';
import { addTopic } from './tools/add-topic.ts';
import { categoryMembers } from './tools/category-members.ts';
import { compareRevisions } from './tools/compare-revisions.ts';
import { createPage } from './tools/create-page.ts';
import { currentUser } from './tools/current-user.ts';
import { editPage } from './tools/edit-page.ts';
import { listFiles } from './tools/list-files.ts';
import { pageCategories } from './tools/page-categories.ts';
import { pageHistory } from './tools/page-history.ts';
import { readDiscussion } from './tools/read-discussion.ts';
import { readPage } from './tools/read-page.ts';
import { readRendered } from './tools/read-rendered.ts';
import { recentChanges } from './tools/recent-changes.ts';
import { search } from './tools/search.ts';
import { uploadFile } from './tools/upload-file.ts';
import { watchList } from './tools/watch-list.ts';
import { watchPage } from './tools/watch-page.ts';
import { findWiki, signInUrl } from './wiki.ts';

export default definePlugin({
  tools: [
    search,
    readPage,
    readRendered,
    pageHistory,
    compareRevisions,
    recentChanges,
    pageCategories,
    categoryMembers,
    readDiscussion,
    listFiles,
    editPage,
    createPage,
    addTopic,
    uploadFile,
    watchList,
    watchPage,
    currentUser,
  ],
  // Most tools work signed out too. What this is for: an answer that is the page to sign in on.
  signIn: {
    loginUrl: () => signInUrl(currentWiki()),
    isLoginPage: (html) => html.includes('"wgCanonicalSpecialPageName":"Userlogin"'),
  },
  isReady: () => findWiki(document) !== undefined,
});
