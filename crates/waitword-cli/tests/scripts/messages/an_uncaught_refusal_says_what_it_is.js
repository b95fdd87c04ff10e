//@ code: 1
//@ stderr has: DataCloneError: () => {} could not be cloned.

structuredClone(() => {});
