// A page in headless Chromium, over a pipe: node chromium.mjs EXECUTABLE ROOT PAGE [SECONDS [FLAGS OF V8]]
// Prints what the page and its workers log, and `window.outcome` when there is one. Fails if nothing is logged for so many seconds: a lost
// wakeup is a failure, a busy machine is not. Needs no package.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

const [executable, root, page, seconds = '120', v8 = ''] = process.argv.slice(2);
const types = { '.html': 'text/html', '.mjs': 'text/javascript', '.js': 'text/javascript', '.wasm': 'application/wasm' };
const server = http.createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost');
  fs.readFile(path.join(root, path.normalize(pathname)), (error, bytes) => {
    response.writeHead(error ? 404 : 200, {
      'content-type': types[path.extname(pathname)] ?? 'text/plain',
      // Shared memory is for pages that are isolated from others.
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
    });
    response.end(bytes);
  });
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));

const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'waitword-web-'));
const browser = spawn(executable, [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--remote-debugging-pipe', `--user-data-dir=${profile}`,
  `--js-flags=${v8}`, 'about:blank',
], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });

const pending = new Map();
let last = 0;
browser.stdio[3].on('error', () => {});
function command(method, params = {}, sessionId = undefined) {
  browser.stdio[3].write(JSON.stringify({ id: ++last, method, params, sessionId }) + '\0');
  return new Promise((resolve, reject) => pending.set(last, { resolve, reject }));
}

let end;
const ended = new Promise((resolve) => { end = resolve; });
let rest = '';
browser.stdio[4].setEncoding('utf8').on('data', (text) => {
  const messages = (rest + text).split('\0');
  rest = messages.pop();
  messages.forEach((message) => received(JSON.parse(message)));
});
function received({ id, result, error, method, params }) {
  if (id !== undefined) {
    const { resolve, reject } = pending.get(id);
    pending.delete(id);
    if (error) reject(new Error(error.message)); else resolve(result);
  } else if (method === 'Runtime.consoleAPICalled') {
    limit.refresh();
    console.log(params.args.map((argument) => argument.value ?? argument.description).join(' '));
    // A panic stops the run: the waiters of that agent would wait for ever.
    if (String(params.args[0]?.value).startsWith('panicked')) end('FAILED: a panic');
  } else if (method === 'Runtime.exceptionThrown') {
    console.log(`exception: ${params.exceptionDetails.exception?.description ?? params.exceptionDetails.text}`);
  } else if (method === 'Target.attachedToTarget' && params.targetInfo.type === 'worker') {
    command('Runtime.enable', {}, params.sessionId).catch(() => {});
  }
}
browser.on('exit', (code) => end(`FAILED: the browser has ended with ${code}`));
const limit = setTimeout(() => end(`FAILED: nothing was logged for ${seconds} s`), Number(seconds) * 1000);
limit.unref();

async function run() {
  const { targetId } = await command('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await command('Target.attachToTarget', { targetId, flatten: true });
  await command('Runtime.enable', {}, sessionId);
  // Workers log to targets of their own.
  await command('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true }, sessionId);
  await command('Page.navigate', { url: `http://127.0.0.1:${server.address().port}/${page}` }, sessionId);
  for (;;) {
    await new Promise((resolve) => { setTimeout(resolve, 100); });
    const { result } = await command('Runtime.evaluate', { expression: 'window.outcome', returnByValue: true }, sessionId);
    if (result.value !== undefined) return end(result.value);
  }
}
run().catch((error) => end(`FAILED: ${error}`));

const outcome = await ended;
const none = { processInfo: [] };
const late = new Promise((resolve) => { setTimeout(resolve, 2000, none); });
const { processInfo } = await Promise.race([command('SystemInfo.getProcessInfo').catch(() => none), late]);
console.log(`CPU time: ${processInfo.reduce((all, { cpuTime }) => all + cpuTime, 0).toFixed(1)} s, of all processes of the browser`);
console.log(outcome);
await Promise.race([command('Browser.close').catch(() => {}), new Promise((resolve) => { setTimeout(resolve, 2000); })]);
if (browser.exitCode === null && browser.signalCode === null) {
  const gone = new Promise((resolve) => { browser.on('exit', resolve); });
  browser.kill('SIGKILL');
  await gone;
}
// Its helpers write for a moment longer.
for (let tries = 0; tries < 50; tries += 1) {
  try { fs.rmSync(profile, { recursive: true, force: true }); break; } catch { await new Promise((again) => { setTimeout(again, 100); }); }
}
process.exit(outcome === 'ok' ? 0 : 1);
