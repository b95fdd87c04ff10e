// Takes memory until an error is thrown. How often that was, and the error.
exports.MIB = 1 << 20;
exports.fill = function fill(take) {
  for (let taken = 0; ; taken++) try { take(); } catch (error) { return [taken, error]; }
};
