const { Worker } = require("worker_threads");
const why = (error) => console.log(error.code, /(too long|out of memory)/.exec(error.message)?.[1]);
async function attempt(name) {
  for (const ending of [".js", ".json"]) {
    try { require(name + ending); } catch (error) { why(error); }
    await import(name + ending).catch(why);
  }
  await new Promise((resolve) => new Worker(name + ".js").on("error", why).on("exit", resolve));
}
attempt("./huge").then(() => attempt("./large")).then(done);
