// Pending waits with deadlines that never pass.

import { memory } from "./support/memory.js";

await memory(1e8);
