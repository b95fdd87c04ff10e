//> TypeError ERR_INVALID_ARG_TYPE
//> TypeError ERR_INVALID_ARG_TYPE
//> TypeError ERR_INVALID_ARG_TYPE
//> TypeError ERR_MISSING_ARGS
//> TypeError undefined

const calls = [() => URL.createObjectURL(1), () => URL.createObjectURL(null), () => URL.createObjectURL({}),
  () => URL.revokeObjectURL(), () => URL.revokeObjectURL(Symbol())];
for (const call of calls) {
  try {
    console.log(call());
  } catch (error) {
    console.log(error.name, error.code);
  }
}
