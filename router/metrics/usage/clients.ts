import type { ClientProgram } from '../../../platform/caller/cause.ts'

/** Label of what exceeds a bound. */
export const otherName = 'other'

export interface ClientLimits {
  /** Clients by name; later ones are `other`. @default 200 */
  readonly clients?: number | undefined
  /** Versions of one client; later ones are `other`. @default 20 */
  readonly versions?: number | undefined
}

/** Bounds the client programs that callers can name: a further one, or a further version of one, is `other`. @returns the same object for the same client */
export function createClients({ clients: maxClients = 200, versions: maxVersions = 20 }: ClientLimits = {}): (program: ClientProgram) => ClientProgram {
  const clients = new Map<string, Map<string, ClientProgram>>()
  return ({ name: given, version }) => {
    const name = clients.has(given) || clients.size < maxClients ? given : otherName
    const versions = clients.get(name) ?? new Map<string, ClientProgram>()
    clients.set(name, versions)
    const bounded = versions.has(version) || versions.size < maxVersions ? version : otherName
    const client = versions.get(bounded) ?? { name, version: bounded }
    versions.set(bounded, client)
    return client
  }
}
