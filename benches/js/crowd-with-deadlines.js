// The same with deadlines that never pass.

import { crowds } from "./support/crowd.js";

await crowds(1e8);
