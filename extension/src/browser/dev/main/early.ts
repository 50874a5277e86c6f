// In the next document of a tab whose console is captured.
import { start } from './start.ts';

start(true);
