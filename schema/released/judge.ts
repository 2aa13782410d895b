import type { Use } from '../../router/metrics/usage/store.ts'
import type { BreakingChange } from './changes.ts'

/** A client that uses something. */
export interface ClientUse {
  readonly name: string
  readonly version: string
  /** Names of its operations, sorted. */
  readonly operations: readonly string[]
  readonly count: number
  readonly lastUsedAt: Date
}

/** A breaking change with the use that it breaks. */
export interface Judged<Of extends BreakingChange = BreakingChange> {
  readonly change: Of
  /** Whether clients would notice; also true where use of its kind is not recorded. */
  readonly used: boolean
  readonly count: number
  readonly lastUsedAt: Date | null
  /** Most frequent first. */
  readonly clients: readonly ClientUse[]
}

/** Says of each breaking change whether clients used what it breaks, and which. @param uses that were recorded */
export function judge<Of extends BreakingChange>(changes: readonly Of[], uses: readonly Use[]): readonly Judged<Of>[] {
  return changes.map(change => {
    if (change.touches === null) return { change, used: true, count: 0, lastUsedAt: null, clients: [] }
    const touched = new Set(change.touches)
    const clients = clientsOf(uses.filter(({ coordinates }) => coordinates.some(each => touched.has(each))))
    const count = clients.reduce((sum, client) => sum + client.count, 0)
    const lastUsedAt = clients.reduce<Date | null>((last, client) => (last === null || client.lastUsedAt > last ? client.lastUsedAt : last), null)
    return { change, used: count > 0, count, lastUsedAt, clients }
  })
}

/** Adds uses up by client and version, most frequent first. */
function clientsOf(uses: readonly Use[]): readonly ClientUse[] {
  const groups = Map.groupBy(uses, ({ client, version }) => `${client}\n${version}`)
  return [...groups.values()]
    .map(group => ({
      name: group[0]!.client,
      version: group[0]!.version,
      operations: [...new Set(group.map(({ operation }) => operation))].sort(),
      count: group.reduce((sum, { count }) => sum + count, 0),
      lastUsedAt: group.reduce((last, each) => (each.lastUsedAt > last ? each.lastUsedAt : last), group[0]!.lastUsedAt),
    }))
    .sort((one, other) => other.count - one.count || (one.name < other.name ? -1 : 1))
}

/** Maximum number of operations that a line names of one client. */
const shownOperations = 3

/** Writes clients in a line: `web 3.2 (PostList), ios 2.0 (Feed)`. */
export const clientsInWords = (clients: readonly Pick<ClientUse, 'name' | 'version' | 'operations'>[]): string =>
  clients
    .map(({ name, version, operations }) => {
      const more = operations.length - shownOperations
      const named = `${operations.slice(0, shownOperations).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
      return `${name}${version === 'unknown' ? '' : ` ${version}`} (${named})`
    })
    .join(', ')

/** Writes a judged change in a line. @param days of the record that were looked at */
export function judgedInWords({ change: { kind, coordinate, touches }, used, count, clients }: Judged, days: number): string {
  const what = `${kind}  ${coordinate}`
  if (!used) return `unused  ${what}`
  if (touches === null) return `in use  ${what}  use of its kind is not recorded`
  return `in use  ${what}  ${count} times in ${days} days: ${clientsInWords(clients)}`
}
