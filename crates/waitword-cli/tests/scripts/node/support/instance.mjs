// A module that says which instance of it this is.
import { shared } from "./shared.mjs";

export { shared };
export const number = (shared.count = (shared.count ?? 0) + 1);
export const { url, filename } = import.meta;
export const file = () => new Error().stack.split("\n")[1].replace(/^.*[/](.*?):\d+:\d+\)?$/, "$1");
