// Drives the page through its modes, and tells the test what came of it. Ends in a state that is worth a picture.
const SECONDS = Number(new URLSearchParams(location.search).get('seconds') ?? 4);

export async function drive({ restart, pause, figures, startOfGaps, agents, isFallback }) {
  const outcome = { agents: agents.map(({ name }) => name), isFallback };
  const run = async (name, changes) => {
    await restart(changes);
    await elapse(SECONDS);
    const { longest } = figures();
    await pause(); // now the figures are exact
    outcome[name] = { ...figures(), longest };
  };
  try {
    await run('warmUp', { locked: true, spins: false }); // engines compile
    startOfGaps(); // what the machine does to a page that only draws, beside nobody
    await elapse(SECONDS);
    outcome.idle = figures().longest;
    await run('spins', { locked: true, spins: true });
    await run('unlocked', { locked: false, spins: false });
    await run('awaits', { locked: true, spins: false });
    await restart({ locked: true, spins: false });
    await elapse(6); // for the picture
    outcome.picture = figures();
  } catch (error) {
    outcome.error = String(error.stack ?? error);
  }
  await fetch('/outcome', { method: 'POST', body: JSON.stringify(outcome) });
}

const elapse = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
