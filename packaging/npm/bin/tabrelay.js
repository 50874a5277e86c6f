#!/usr/bin/env node
// Starts the program of this system. It is in a package of its own, of which npm installs the one that fits, so that no
// script has to run at the installation and nothing is fetched later.

const { spawn } = require('node:child_process');
const { optionalDependencies } = require('../package.json');

const name = `@tabrelay/${process.platform}-${process.arch}`;
const child = spawn(find(), process.argv.slice(2), { stdio: 'inherit' });

child.on('error', (error) => {
  console.error(`error: ${child.spawnfile} cannot be started: ${error.message}`);
  process.exit(1);
});

// Whoever ends this process means the program. Ctrl-C reaches both by itself.
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'])
  process.on(signal, () => {
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  });

child.on('exit', (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

function find() {
  const program = process.platform === 'win32' ? 'tabrelay.exe' : 'tabrelay';
  try {
    return require.resolve(`${name}/bin/${program}`);
  } catch {
    if (name in optionalDependencies) {
      console.error(`error: the package ${name}, which has the program, is not installed`);
      console.error('hint: install tabrelay again, on this system, and with its optional packages');
    } else {
      console.error(`error: there is no tabrelay for ${process.platform} on ${process.arch}`);
      console.error(`hint: the systems are: ${Object.keys(optionalDependencies).join(', ')}`);
    }
    process.exit(1);
  }
}
