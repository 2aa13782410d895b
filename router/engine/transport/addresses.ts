import { type DirectiveNode, Kind, parse } from 'graphql'

/**
 * Reads where the subgraphs of a supergraph are (`join__Graph`, https://specs.apollo.dev/join): addresses by names, '' where
 * none is written.
 * @throws GraphQLError for a text that is no SDL; Error for one that is no supergraph
 */
export function readAddresses(supergraphSdl: string): Map<string, string> {
  const addresses = new Map<string, string>()
  let joined = false
  for (const definition of parse(supergraphSdl, { noLocation: true }).definitions) {
    if (definition.kind === Kind.SCHEMA_DEFINITION) joined = (definition.directives ?? []).some(isJoin)
    if (definition.kind !== Kind.ENUM_TYPE_DEFINITION || definition.name.value !== 'join__Graph') continue
    for (const { directives } of definition.values ?? []) {
      const given = directives?.find(({ name }) => name.value === 'join__graph')?.arguments ?? []
      const [name, url] = ['name', 'url'].map(wanted => {
        const value = given.find(argument => argument.name.value === wanted)?.value
        return value?.kind === Kind.STRING ? value.value : ''
      })
      if (name) addresses.set(name, url ?? '')
    }
  }
  if (!joined || addresses.size === 0) throw new Error('it names no subgraphs: compose the subgraphs first, and give the supergraph that comes of it')
  return addresses
}

/** `@link(url: …)` of today and `@core(feature: …)` of the first version. */
const isJoin = ({ arguments: given }: DirectiveNode): boolean =>
  (given ?? []).some(({ value }) => value.kind === Kind.STRING && value.value.startsWith('https://specs.apollo.dev/join/'))
