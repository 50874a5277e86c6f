// The door by which the tools for developers are built as a plugin (relay/plugin builds src/index.ts of a folder).
import { definePlugin } from '@tabrelay/plugin-sdk';
import { tools } from '../tools.ts';

export default definePlugin({ tools });
