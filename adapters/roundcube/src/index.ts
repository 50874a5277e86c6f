import { definePlugin } from '@tabrelay/plugin-sdk';
import { isWebmail, signIn } from './session.ts';
import { addContact } from './tools/add-contact.ts';
import { currentUser } from './tools/current-user.ts';
import { deleteMessages } from './tools/delete-messages.ts';
import { listContacts } from './tools/list-contacts.ts';
import { listFolders } from './tools/list-folders.ts';
import { listMessages } from './tools/list-messages.ts';
import { markMessages } from './tools/mark-messages.ts';
import { moveMessages } from './tools/move-messages.ts';
import { readAttachment } from './tools/read-attachment.ts';
import { readMessage } from './tools/read-message.ts';
import { replyToMessage } from './tools/reply-to-message.ts';
import { saveDraft } from './tools/save-draft.ts';
import { sendMessage } from './tools/send-message.ts';

export default definePlugin({
  tools: [
    listFolders,
    listMessages,
    readMessage,
    readAttachment,
    sendMessage,
    replyToMessage,
    saveDraft,
    markMessages,
    moveMessages,
    deleteMessages,
    listContacts,
    addContact,
    currentUser,
  ],
  signIn,
  isReady: () => isWebmail(document),
});
