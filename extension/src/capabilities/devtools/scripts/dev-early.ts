// In the next document of a tab whose console is captured.
import { start } from '../page/start.ts';

start(true);
