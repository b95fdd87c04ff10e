// Pending waits without deadlines.

import { memory } from "./support/memory.js";

await memory(Infinity);
