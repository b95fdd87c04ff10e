// A page and its worker hear of errors and rejections and may deal with them.
//@ code: 1
//@ stderr has: Error: again

onerror = () => { throw new Error('again'); }; throw new Error('first');
