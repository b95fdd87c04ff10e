// Pages in headless browsers, without a package: a server with the headers that shared memory needs, Chromium over a pipe, Firefox.
//
// A page tells how it went by a POST to /outcome: JSON, which `visit` returns. Until then, each POST to /alive says that it goes on.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

/** For so long nothing may be heard of a test. A busy machine makes a test slow; one that hangs is silent. */
export const SECONDS = 300;

const TYPES = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };

/** Serves folders by their prefix: `{ '/': 'examples/browser' }`. Resolves to the address and the outcomes. */
export async function serve(folders, port = 0) {
  const prefixes = Object.keys(folders).sort((a, b) => b.length - a.length);
  const waiting = [];
  const server = http.createServer((request, response) => {
    if (request.method === 'POST') {
      let text = '';
      request.on('data', (part) => (text += part)).on('end', () => {
        response.writeHead(204).end();
        if (request.url === '/outcome') waiting.shift()?.(JSON.parse(text));
        else site.onAlive?.();
      });
      return;
    }
    const { pathname } = new URL(request.url, 'http://localhost');
    const prefix = prefixes.find((prefix) => pathname.startsWith(prefix));
    const rest = path.posix.normalize(`/${decodeURIComponent(pathname.slice(prefix?.length ?? 0))}`);
    const file = path.join(folders[prefix] ?? '/nowhere', rest.endsWith('/') ? `${rest}index.html` : rest);
    fs.readFile(file, (error, bytes) => {
      response.writeHead(error ? 404 : 200, {
        'content-type': TYPES[path.extname(file)] ?? 'text/plain',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-embedder-policy': 'require-corp',
        'cache-control': 'no-store',
      });
      response.end(bytes);
    });
  });
  await new Promise((listening, failed) => server.listen(port, '127.0.0.1', listening).on('error', failed));
  const site = {
    url: `http://127.0.0.1:${server.address().port}`,
    outcome: () => new Promise((resolve) => waiting.push(resolve)),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
    onAlive: undefined,
  };
  return site;
}

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1)); // and end the browsers

/** Tells that `what` is not run, also in the file that WAITWORD_SKIPS names, which lists what was skipped. */
export function skip(what, why) {
  const line = `skipped: ${what}: ${why}`;
  console.log(line);
  if (process.env.WAITWORD_SKIPS) fs.appendFileSync(process.env.WAITWORD_SKIPS, `${line}\n`);
}

/** The first of `names` that is installed. */
export const find = (names) => names.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
export const CHROMIUM = ['chromium', 'chromium-headless-shell', 'google-chrome', 'chromium-browser'];
export const FIREFOX = ['firefox-esr', 'firefox'];

export const version = (browser) => spawnSync(browser, ['--version'], { encoding: 'utf8' }).stdout?.split('\n').find((line) => /\d\.\d/.test(line)) ?? `${browser} (not found)`;

/** Visits a page of `site`, and returns its outcome. `picture` is a file for a screenshot of Chromium. */
export async function visit(browser, site, page, { picture, size = [1120, 900], scale = 1 } = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'waitword-page-'));
  const isFirefox = browser.includes('firefox');
  const child = isFirefox ? startFirefox(browser, folder, site.url + page) : startChromium(browser, folder, size, scale);
  const gone = new Promise((closed) => child.on('close', closed));
  const end = () => {
    try {
      process.kill(-child.pid, 'SIGKILL'); // the group: Debian's command is a script that starts the browser
    } catch {} // it has ended
  };
  process.on('exit', end);
  let timer;
  try {
    const outcome = site.outcome();
    const ended = new Promise((_, fail) => {
      child.on('exit', (code, signal) => fail(new Error(`${browser} has ended: ${code ?? signal}`)));
      child.on('error', fail);
      timer = setTimeout(() => fail(new Error(`${browser}: nothing was heard of the page for ${SECONDS} s`)), SECONDS * 1000);
      site.onAlive = () => timer.refresh();
    });
    ended.catch(() => {});
    if (isFirefox) return await Promise.race([outcome, ended]);
    const command = commands(child);
    const { targetId } = await command('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await command('Target.attachToTarget', { targetId, flatten: true });
    await command('Page.navigate', { url: site.url + page }, sessionId);
    const result = await Promise.race([outcome, ended]);
    if (picture) {
      const { data } = await command('Page.captureScreenshot', { format: 'png' }, sessionId);
      fs.mkdirSync(path.dirname(picture), { recursive: true });
      fs.writeFileSync(picture, Buffer.from(data, 'base64'));
    }
    return result;
  } finally {
    clearTimeout(timer);
    end();
    process.off('exit', end);
    await gone;
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

function startChromium(browser, folder, [width, height], scale) {
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--remote-debugging-pipe', `--user-data-dir=${folder}`,
    `--window-size=${width},${height}`, `--force-device-scale-factor=${scale}`, '--hide-scrollbars', 'about:blank'];
  return spawn(browser, flags, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true });
}

function startFirefox(browser, folder, url) {
  const off = ['app.update.enabled', 'browser.shell.checkDefaultBrowser', 'datareporting.policy.dataSubmissionEnabled',
    'network.captive-portal-service.enabled', 'network.connectivity-service.enabled', 'toolkit.telemetry.enabled',
    'browser.aboutwelcome.enabled', 'extensions.update.enabled', 'app.normandy.enabled', 'browser.safebrowsing.update.enabled'];
  fs.writeFileSync(path.join(folder, 'user.js'), off.map((name) => `user_pref(${JSON.stringify(name)}, false);\n`).join(''));
  return spawn(browser, ['--headless', '--no-remote', '--profile', folder, url], { stdio: 'ignore', detached: true, env: { ...process.env, HOME: folder } });
}

function commands(child) {
  const pending = new Map();
  let last = 0;
  let rest = '';
  child.stdio[4].setEncoding('utf8').on('data', (text) => {
    const messages = (rest + text).split('\0');
    rest = messages.pop();
    for (const message of messages.map((message) => JSON.parse(message))) {
      const call = pending.get(message.id);
      pending.delete(message.id);
      if (message.error) call?.reject(new Error(message.error.message));
      else call?.resolve(message.result);
    }
  });
  return (method, params = {}, sessionId = undefined) => new Promise((resolve, reject) => {
    pending.set(++last, { resolve, reject });
    child.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
  });
}
