// Many pending `waitAsync` without deadlines, one `notify`, one `Promise.all`.

import { crowds } from "./support/crowd.js";

await crowds(Infinity);
