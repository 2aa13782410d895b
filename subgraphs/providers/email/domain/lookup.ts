import { Resolver } from 'node:dns/promises'
import type { Mailing } from '../../context.ts'
import type { RecordStatus, Seen, WantedRecord } from '../../stores/email/domain.ts'
import { statusOf } from './records.ts'

/** Time limit in ms of one DNS query at one server, and number of attempts. */
const usual = { timeout: 2_000, tries: 2 }
/** Time limit in ms of all queries of one domain. */
const allMs = 6_000
/** Maximum records examined at one name, and domains looked up at once. */
const mostRecords = 100
const atOnce = 8

/** Error codes for a missing record. */
const nothing = ['ENODATA', 'ENOTFOUND']

/** @param servers `192.0.2.53`, `192.0.2.53:5353`, `[2001:db8::53]:5353`; null: those of the machine @param patience @default 2 s, twice */
export function createLookUp(servers: readonly string[] | null, patience = usual): Mailing['lookUp'] {
  let busy = 0
  const waiting: (() => void)[] = []

  async function ask(resolver: Resolver, wanted: WantedRecord): Promise<RecordStatus | null> {
    try {
      const found = wanted.type === 'TXT' ? (await resolver.resolveTxt(wanted.host)).map(parts => parts.join('')) : await resolver.resolveCname(wanted.host)
      return statusOf(wanted, found.slice(0, mostRecords))
    } catch (error) {
      return nothing.includes((error as NodeJS.ErrnoException).code ?? '') ? 'MISSING' : null
    }
  }

  return async wanted => {
    // A finished lookup passes its place on.
    if (busy >= atOnce) await new Promise<void>(resolve => waiting.push(resolve))
    else busy += 1
    // Each domain has a resolver of its own, so that cancelling one lookup leaves the others alone.
    const resolver = new Resolver(patience)
    if (servers) resolver.setServers(servers)
    const overdue = setTimeout(() => resolver.cancel(), allMs)
    try {
      const found = await Promise.all(wanted.map(async each => [each.purpose, await ask(resolver, each)] as const))
      return Object.fromEntries(found.filter(([, status]) => status !== null)) as Seen
    } finally {
      clearTimeout(overdue)
      const next = waiting.shift()
      if (next) next()
      else busy -= 1
    }
  }
}
