/** Time zones that this browser knows, by name, with one more where it is not among them. */
export function zones(current: string): readonly { readonly id: string; readonly name: string }[] {
  const known = ['UTC', ...Intl.supportedValuesOf('timeZone').filter(each => each !== 'UTC')]
  return (known.includes(current) ? known : [current, ...known]).map(id => ({ id, name: id.replaceAll('_', ' ') }))
}
