import { definePlugin } from '@tabrelay/plugin-sdk';
import { listForms } from './tools/list-forms.ts';
import { listImages } from './tools/list-images.ts';
import { listLinks } from './tools/list-links.ts';
import { listTables } from './tools/list-tables.ts';
import { outline } from './tools/outline.ts';
import { pageInfo } from './tools/page-info.ts';
import { readArticle } from './tools/read-article.ts';
import { readSelection } from './tools/read-selection.ts';
import { readTable } from './tools/read-table.ts';
import { readText } from './tools/read-text.ts';
import { searchText } from './tools/search-text.ts';

export default definePlugin({
  tools: [
    readArticle,
    readText,
    searchText,
    outline,
    listLinks,
    listTables,
    readTable,
    listForms,
    listImages,
    readSelection,
    pageInfo,
  ],
});
