// Drives the page through its modes, and tells the test what came of it. Ends in a state that is worth a picture.
//
// The gaps between frames depend on what else the machine does. So the ways of waiting take turns, in short rounds, and each round has a
// control: a page that counts as much, beside the same workers, and waits for no lock.
const query = new URLSearchParams(location.search);
const ROUNDS = Number(query.get('rounds') ?? 14);
const SECONDS = 0.7; // of each way in a round: the slow worker holds the lock a quarter of a second after the start
const WAYS = ['awaits', 'spins', 'abstains'];

export async function drive({ restart, pause, figures, agents, isFallback }) {
  const outcome = { agents: agents.map(({ name }) => name), isFallback, rounds: [] };
  const run = async (changes, seconds) => {
    await restart(changes);
    await elapse(seconds);
    const { longest, longestWhileHeld } = figures();
    await pause(); // now the counts are exact
    return { ...figures(), longest, longestWhileHeld };
  };
  try {
    for (let round = -1; round < ROUNDS; round++) {
      const runs = {};
      // Each way comes first, second and last equally often.
      for (let i = 0; i < WAYS.length; i++) {
        const page = WAYS[(i + round + 1) % WAYS.length];
        runs[page] = await run({ locked: true, page }, SECONDS);
      }
      if (round >= 0) outcome.rounds.push(runs); // in the first one, engines compile
      await fetch('/alive', { method: 'POST' });
    }
    outcome.unlocked = await run({ locked: false, page: 'awaits' }, 4);
    await restart({ locked: true, page: 'awaits' });
    outcome.note = document.getElementById('note').textContent;
    if (!isFallback) await elapse(6); // for the picture
  } catch (error) {
    outcome.error = String(error.stack ?? error);
  }
  await fetch('/outcome', { method: 'POST', body: JSON.stringify(outcome) });
}

const elapse = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
