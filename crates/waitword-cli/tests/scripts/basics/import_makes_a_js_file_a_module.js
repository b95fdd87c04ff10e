//> undefined 1

import 'node:path'; console.log(typeof require, await 1);
