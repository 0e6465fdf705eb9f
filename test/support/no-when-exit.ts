/** In place of the package when-exit, as in the bundle (scripts/stand-ins.js): that one would end the process on a signal. */
export default (): (() => void) => () => undefined;
