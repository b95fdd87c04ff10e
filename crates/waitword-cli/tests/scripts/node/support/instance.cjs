exports.own = {};
exports.filename = __filename;
