import { definePlugin } from '@tabrelay/plugin-sdk';
import { signIn } from './session.ts';
import { createRecord } from './tools/create-record.ts';
import { deleteRecord } from './tools/delete-record.ts';
import { getCollection } from './tools/get-collection.ts';
import { getRecord } from './tools/get-record.ts';
import { health } from './tools/health.ts';
import { listAuthMethods } from './tools/list-auth-methods.ts';
import { listCollections } from './tools/list-collections.ts';
import { listLogs } from './tools/list-logs.ts';
import { listRecords } from './tools/list-records.ts';
import { listUsers } from './tools/list-users.ts';
import { readSettings } from './tools/read-settings.ts';
import { searchRecords } from './tools/search-records.ts';
import { updateRecord } from './tools/update-record.ts';

export default definePlugin({
  signIn,
  tools: [
    listCollections,
    getCollection,
    listRecords,
    searchRecords,
    getRecord,
    createRecord,
    updateRecord,
    deleteRecord,
    listUsers,
    listAuthMethods,
    listLogs,
    readSettings,
    health,
  ],
});
