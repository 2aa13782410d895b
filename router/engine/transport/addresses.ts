import { type DirectiveNode, Kind, parse } from 'graphql'

/**
 * Reads the subgraphs' addresses from a supergraph (`join__Graph`, https://specs.apollo.dev/join): addresses by name,
 * '' where none is given.
 * @throws GraphQLError for a text that is not SDL; Error for SDL that is not a supergraph
 */
export function readAddresses(supergraphSdl: string): Map<string, string> {
  const addresses = addressesOf(supergraphSdl)
  const isJoined = parse(supergraphSdl, { noLocation: true }).definitions.some(
    definition => definition.kind === Kind.SCHEMA_DEFINITION && (definition.directives ?? []).some(isJoin),
  )
  if (!isJoined || addresses.size === 0) throw new Error('it names no subgraphs: compose the subgraphs first, and give the supergraph that comes of it')
  return addresses
}

/** Returns the addresses of the subgraphs that a text names, by the subgraphs' names. */
export function addressesOf(sdl: string): Map<string, string> {
  const addresses = new Map<string, string>()
  for (const definition of parse(sdl, { noLocation: true }).definitions) {
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
  return addresses
}

/** Whether a link names the join specification: by `@link(url: …)`, or by `@core(feature: …)` of the first version. */
const isJoin = ({ arguments: given }: DirectiveNode): boolean =>
  (given ?? []).some(({ value }) => value.kind === Kind.STRING && value.value.startsWith('https://specs.apollo.dev/join/'))

/** Returns name and value of the header for a user name and password in an address (RFC 7617); nothing without them. */
export function credentialsOf({ username, password }: URL): readonly string[] {
  if (!username && !password) return []
  return ['authorization', `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`]
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
