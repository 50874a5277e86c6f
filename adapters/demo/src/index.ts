import { definePlugin } from '@tabrelay/plugin-sdk';
import { counterIncrement, counterRead, slowIncrement } from './counter.ts';
import { getPage, hello, listPages, whoAmI } from './pages.ts';
import { blockPage, neverAnswer, slow } from './slow.ts';
import * as trouble from './trouble.ts';

export default definePlugin({
  tools: [
    hello,
    listPages,
    getPage,
    whoAmI,
    counterRead,
    counterIncrement,
    slowIncrement,
    slow,
    neverAnswer,
    blockPage,
    ...Object.values(trouble),
  ],
});
