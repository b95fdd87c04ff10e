// The picture: the ring of agents around the lock, the lanes of what each did, and the time between frames.
import { HOLDS, WAITS } from './words.js';

const style = getComputedStyle(document.documentElement);
const color = (name) => style.getPropertyValue(`--${name}`).trim();
const COLORS = { holds: color('holds'), waits: color('waits'), works: color('works'), text: color('text'), muted: color('muted'), bad: color('bad') };
const LANE = 28;
const COLUMN = 3; // pixels for each frame
const LIMIT = 50; // milliseconds
const TALLEST = 130;

const colorOf = (state) => (state === HOLDS ? COLORS.holds : state === WAITS ? COLORS.waits : COLORS.works);

export class Drawing {
  #agents;
  #ring = canvas('ring');
  #lanes = canvas('lanes');
  #gaps = canvas('gaps');
  #history = []; // of each frame: its gap and the states
  #glow; // how bright each agent is: it fades over some frames
  #counts;

  constructor(agents) {
    this.#agents = agents;
    this.#glow = agents.map(() => ({ holds: 0, waits: 0 }));
    const list = document.getElementById('agents');
    this.#counts = agents.map(({ name }) => {
      const row = document.createElement('li');
      const count = document.createElement('span');
      const title = document.createElement('b');
      title.textContent = name;
      row.append(title, count);
      list.append(row);
      return count;
    });
  }

  count(number, count) {
    this.#counts[number].textContent = count.toLocaleString('en');
  }

  /** Forgets what was. */
  clear() {
    this.#history.length = 0;
  }

  frame(now, gap, states) {
    this.#history.push({ gap, states });
    const columns = Math.ceil(this.#lanes.width / COLUMN);
    if (this.#history.length > 2 * columns) this.#history.splice(0, columns);
    this.#drawRing(now, states);
    this.#drawLanes(columns);
    this.#drawGaps();
  }

  #drawRing(now, states) {
    const { context, width, height } = this.#ring.clear();
    const [x, y, radius] = [width / 2, height / 2 + 4, Math.min(width, height) / 2 - 48];
    // Turns once in eight seconds: a missing frame shows.
    context.setLineDash([2, 10]);
    context.lineDashOffset = (-now / 8000) * 2 * Math.PI * radius;
    context.lineWidth = 3;
    context.lineCap = 'round';
    context.strokeStyle = '#3a475a';
    circle(context, x, y, radius).stroke();
    context.setLineDash([]);

    states.forEach((state, number) => {
      const glow = this.#glow[number];
      glow.holds = state === HOLDS ? 1 : glow.holds * 0.86;
      glow.waits = state === WAITS ? 1 : glow.waits * 0.9;
      const angle = -Math.PI / 2 + (number / states.length) * 2 * Math.PI;
      const [ax, ay] = [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
      if (glow.holds > 0.03) {
        context.globalAlpha = glow.holds;
        context.strokeStyle = COLORS.holds;
        context.lineWidth = 2 + 4 * glow.holds;
        line(context, x, y, ax, ay);
        context.globalAlpha = 1;
      }
      context.fillStyle = '#0f141c';
      circle(context, ax, ay, 27).fill();
      context.lineWidth = 3;
      context.strokeStyle = COLORS.works;
      circle(context, ax, ay, 24).stroke();
      for (const [name, strength] of [['waits', glow.waits], ['holds', glow.holds]]) {
        context.globalAlpha = strength;
        context.strokeStyle = COLORS[name];
        circle(context, ax, ay, 24).stroke();
      }
      context.globalAlpha = 1;
      text(context, short(this.#agents[number]), ax, ay, '600 13px system-ui, sans-serif', COLORS.text);
    });

    const held = states.includes(HOLDS);
    context.fillStyle = '#0f141c';
    circle(context, x, y, 40).fill();
    context.lineWidth = 2;
    context.strokeStyle = held ? COLORS.holds : '#3a475a';
    circle(context, x, y, 38).stroke();
    text(context, held ? 'held' : 'free', x, y, '600 15px system-ui, sans-serif', held ? COLORS.holds : COLORS.muted);
  }

  #drawLanes(columns) {
    const { context, width } = this.#lanes.clear();
    const shown = this.#history.slice(-columns);
    shown.forEach(({ states }, column) => {
      const left = width - (shown.length - column) * COLUMN;
      states.forEach((state, number) => {
        context.fillStyle = colorOf(state);
        context.fillRect(left, number * LANE + 4, COLUMN - 0.6, LANE - 8);
      });
    });
  }

  #drawGaps() {
    const { context, width, height } = this.#gaps.clear();
    const columns = Math.ceil(width / COLUMN);
    const heightOf = (gap) => (Math.min(gap, TALLEST) / TALLEST) * height;
    const shown = this.#history.slice(-columns);
    shown.forEach(({ gap }, column) => {
      const left = width - (shown.length - column) * COLUMN;
      context.fillStyle = gap > LIMIT ? COLORS.bad : '#5f7fae';
      context.fillRect(left, height - heightOf(gap), COLUMN - 0.6, heightOf(gap));
    });
    context.strokeStyle = COLORS.muted;
    context.globalAlpha = 0.5;
    context.lineWidth = 1;
    context.setLineDash([4, 4]);
    line(context, 0, height - heightOf(LIMIT), width, height - heightOf(LIMIT));
    context.setLineDash([]);
    context.globalAlpha = 1;
  }
}

const short = ({ kind, name }) => (kind === 'page' ? 'page' : kind === 'Rust' ? `Rs ${name.at(-1)}` : `JS ${name.at(-1)}`);

/** A canvas that is as sharp as the screen. */
function canvas(id) {
  const element = document.getElementById(id);
  const context = element.getContext('2d');
  const size = { width: 0, height: 0 };
  const fit = () => {
    Object.assign(size, { width: element.clientWidth, height: element.clientHeight });
    element.width = size.width * devicePixelRatio;
    element.height = size.height * devicePixelRatio;
    context.scale(devicePixelRatio, devicePixelRatio);
  };
  new ResizeObserver(fit).observe(element);
  fit();
  return {
    get width() {
      return size.width;
    },
    clear() {
      context.clearRect(0, 0, size.width, size.height);
      return { context, ...size };
    },
  };
}

function circle(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  return context;
}

function line(context, ...[x1, y1, x2, y2]) {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

function text(context, string, x, y, font, fill) {
  context.font = font;
  context.fillStyle = fill;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(string, x, y + 1);
}
