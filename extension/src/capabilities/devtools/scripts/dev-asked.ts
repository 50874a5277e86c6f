import { start } from '../page/start.ts';

start(false);
