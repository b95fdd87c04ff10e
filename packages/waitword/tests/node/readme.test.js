// The examples of the README run as they stand.
import { readFileSync } from 'node:fs';
import { run, test } from '../harness.js';

const root = new URL('../..', import.meta.url);
const examples = [...readFileSync(new URL('README.md', root), 'utf8').matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);

examples.forEach((code, number) => {
  test(`example ${number + 1}`, async () => {
    const source = code.replace("'waitword'", `'${new URL('src/index.js', root)}'`);
    await import(`data:text/javascript,${encodeURIComponent(source)}`);
  });
});

await run();
