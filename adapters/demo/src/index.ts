import { definePlugin } from '@tabrelay/plugin-sdk';
import { counterIncrement, counterRead } from './counter.ts';
import { getPage, hello, listPages } from './pages.ts';

export default definePlugin({
  tools: [hello, listPages, getPage, counterRead, counterIncrement],
});
