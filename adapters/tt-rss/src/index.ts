import { definePlugin } from '@tabrelay/plugin-sdk';
import { isReader, signIn } from './session.ts';
import { catchUp } from './tools/catch-up.ts';
import { createCategory } from './tools/create-category.ts';
import { createLabel } from './tools/create-label.ts';
import { editFeed } from './tools/edit-feed.ts';
import { exportOpmlTool } from './tools/export-opml.ts';
import { labelNews } from './tools/label-news.ts';
import { listCategories } from './tools/list-categories.ts';
import { listFeeds } from './tools/list-feeds.ts';
import { listFilters } from './tools/list-filters.ts';
import { listLabels } from './tools/list-labels.ts';
import { listNews } from './tools/list-news.ts';
import { markNews } from './tools/mark-news.ts';
import { overview } from './tools/overview.ts';
import { previewFilter } from './tools/preview-filter.ts';
import { publishNews } from './tools/publish-news.ts';
import { readFeed } from './tools/read-feed.ts';
import { readNews } from './tools/read-news.ts';
import { removeCategory } from './tools/remove-category.ts';
import { renameCategory } from './tools/rename-category.ts';
import { setNote } from './tools/set-note.ts';
import { setTags } from './tools/set-tags.ts';
import { subscribe } from './tools/subscribe.ts';
import { unsubscribe } from './tools/unsubscribe.ts';
import { updateFeed } from './tools/update-feed.ts';

export default definePlugin({
  tools: [
    overview,
    listNews,
    readNews,
    listFeeds,
    readFeed,
    listCategories,
    listLabels,
    listFilters,
    previewFilter,
    exportOpmlTool,
    markNews,
    publishNews,
    labelNews,
    setNote,
    setTags,
    createLabel,
    subscribe,
    updateFeed,
    editFeed,
    createCategory,
    renameCategory,
    catchUp,
    unsubscribe,
    removeCategory,
  ],
  signIn,
  isReady: () => isReader(document),
});
