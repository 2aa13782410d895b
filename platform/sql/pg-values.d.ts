// pg's types leave out the function by which it writes a parameter down.
declare module 'pg/lib/utils.js' {
  const utils: { readonly prepareValue: (value: unknown) => string | Buffer | null }
  export default utils
}
