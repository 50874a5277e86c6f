import { definePlugin } from '@tabrelay/plugin-sdk';
import { signIn } from './session.ts';
import { findApi } from './site.ts';
import { addComment } from './tools/add-comment.ts';
import { createPost } from './tools/create-post.ts';
import { createTerm } from './tools/create-term.ts';
import { currentUser } from './tools/current-user.ts';
import { listComments } from './tools/list-comments.ts';
import { listMedia } from './tools/list-media.ts';
import { listPosts } from './tools/list-posts.ts';
import { listTerms } from './tools/list-terms.ts';
import { listUsers } from './tools/list-users.ts';
import { moderateComment } from './tools/moderate-comment.ts';
import { readPost } from './tools/read-post.ts';
import { readSettings } from './tools/read-settings.ts';
import { trashPost } from './tools/trash-post.ts';
import { updatePost } from './tools/update-post.ts';
import { uploadMedia } from './tools/upload-media.ts';

export default definePlugin({
  tools: [
    listPosts,
    readPost,
    createPost,
    updatePost,
    trashPost,
    listComments,
    moderateComment,
    addComment,
    listMedia,
    uploadMedia,
    listTerms,
    createTerm,
    listUsers,
    currentUser,
    readSettings,
  ],
  signIn,
  isReady: () => findApi(document) !== undefined,
});
