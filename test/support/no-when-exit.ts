/** Replaces the package when-exit, as in the bundle (scripts/stand-ins.js), which would end the process on a signal. */
export default (): (() => void) => () => undefined;
