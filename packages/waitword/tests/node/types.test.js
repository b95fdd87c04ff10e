// The types: usage.ts and plain.ts compile, and index.d.ts names what the modules have. Needs tsc in node_modules or on the path.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as library from '../../src/index.js';
import { skip } from '../browser/drive.mjs';
import { assert, equal, run, test } from '../harness.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

const tsc = [process.env.TSC, `${root}node_modules/.bin/tsc`, 'tsc'].filter(Boolean).find((command) => spawnSync(command, ['--version']).status === 0);

// Without the types of a page, and without the newest of the language's, index.d.ts brings what it needs of them.
for (const [file, lib] of [['usage.ts', 'esnext,dom'], ['plain.ts', 'es2017'], ['plain.ts', 'es2022'], ['plain.ts', 'es2022,dom'], ['plain.ts', 'esnext']]) {
  test(`${file} compiles with --lib ${lib}`, () => {
    if (!tsc) {
      const why = 'tsc is not installed (npm install --no-save typescript)';
      skip("that the npm package's types compile", why);
      return why;
    }
    const flags = ['--noEmit', '--strict', '--target', 'esnext', '--module', 'nodenext', '--lib', lib];
    const { status, stdout } = spawnSync(tsc, [...flags, `tests/node/${file}`], { cwd: root, encoding: 'utf8' });
    equal(status, 0, stdout);
  });
}

test('index.d.ts has the names that the modules have', () => {
  const types = readFileSync(`${root}index.d.ts`, 'utf8');
  const declared = [...types.matchAll(/^export (?:class|const) (\w+)/gm)].map(([, name]) => name);
  equal(declared.sort().join(), Object.keys(library).sort().join());
  for (const [name, type] of Object.entries(library)) {
    if (typeof type !== 'function') continue;
    const body = types.slice(types.indexOf(`export class ${name} `)).split(/^}|\{\}$/m, 1)[0];
    const members = new Set([...body.matchAll(/^ {2}(?:readonly )?(\w+)[<(:]/gm)].map(([, member]) => member));
    members.delete('constructor');
    const has = Object.getOwnPropertyNames(type.prototype).filter((member) => member !== 'constructor');
    equal([...members].sort().join(), has.sort().join(), name);
    const statics = [...body.matchAll(/^ {2}static readonly (\w+)/gm)].map(([, member]) => member);
    for (const member of statics) assert(member in type, `${name}.${member}`);
  }
});

await run();
