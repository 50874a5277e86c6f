export { definePreScript, type PreScriptContext } from '../pre-script.ts';
