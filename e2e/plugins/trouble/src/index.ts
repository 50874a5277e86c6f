// What goes wrong, takes long or asks who is signed in, on the demo site: tools for tests, which nobody is given.

import { definePlugin } from '@tabrelay/plugin-sdk';
import { whoAmI } from './account.ts';
import { blockPage, neverAnswer, slow, slowIncrement } from './slow.ts';
import * as trouble from './trouble.ts';

export default definePlugin({
  tools: [whoAmI, slowIncrement, slow, neverAnswer, blockPage, ...Object.values(trouble)],
});
