import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Sequelize } from 'sequelize'
import type { Clock } from '../../../../platform/clock.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import type { ServiceClient, ServiceClients } from '../../../authority.ts'
import type { ServiceOperation } from '../../../scopes.ts'

/** Accuracy of "last used", in ms. */
const touchEvery = 60_000
/** Time in ms for which a client's record is cached. */
const keptMs = 1_000
const mostKept = 1_000

interface Found {
  readonly asked: string
  readonly appId: string
  readonly active: boolean
  readonly operations: readonly ServiceOperation[]
  readonly clientId: string
  readonly tokenId: string | null
}

const find = statement(
  `select c.app_id as asked, c.app_id as "appId", c.active, c.operations, c.id as "clientId", null::uuid as "tokenId"
     from providers.service_clients c where c.app_id = any($1::text[])
    union all
   select t.hash, c.app_id, c.active, c.operations, c.id, t.id
     from providers.service_tokens t join providers.service_clients c on c.id = t.client_id
    where t.hash = any($1::text[]) and t.revoked_at is null and (t.expires_at is null or t.expires_at > $2)`,
)
const touch = {
  client: statement('update providers.service_clients set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at < $2)'),
  token: statement('update providers.service_tokens set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at < $2)'),
} as const

/** Directory of service clients: the router looks up tokens, and the gateway looks up apps. */
export interface ClientDirectory extends ServiceClients {
  /** Returns the client of an app, at most a second old; null when it has none. */
  of(appId: string): Promise<ServiceClient | null>
  /** Records that an app was used, in the background and at most once a minute. */
  used(appId: string): void
  /** Clears the cache after a change in this process. */
  forget(): void
  /** Resolves when no write is in progress. */
  settle(): Promise<void>
}

/** Looks up clients by app, or by the hash of a token, in one statement. */
export function createClientDirectory(
  { sequelize, clock, log }: { readonly sequelize: Sequelize; readonly clock: Clock; readonly log: Pick<Logger, 'warn'> },
  elapsed: () => number = () => performance.now(),
): ClientDirectory {
  const known = new LRUCache<string, { readonly at: number; readonly answer: Promise<Found | null> }>({ max: mostKept })
  const written = new LRUCache<string, number>({ max: mostKept })
  const writing = new Set<Promise<unknown>>()

  const note = (what: keyof typeof touch, id: string) => {
    const now = clock.now()
    if (now.getTime() - (written.get(id) ?? Number.NEGATIVE_INFINITY) < touchEvery) return
    written.set(id, now.getTime())
    const done: Promise<unknown> = rows(sequelize, touch[what], [id, now])
      .catch(err => log.warn({ err }, 'last use of a service client could not be stored'))
      .finally(() => writing.delete(done))
    writing.add(done)
  }
  const look = (asked: readonly string[]) => rows<Found>(sequelize, find, [asked, clock.now()])
  const ofApp = (appId: string): Promise<Found | null> => {
    const remembered = known.get(appId)
    if (remembered && elapsed() - remembered.at < keptMs) return remembered.answer
    const entry = { at: elapsed(), answer: look([appId]).then(([found]) => found ?? null) }
    known.set(appId, entry)
    entry.answer.catch(() => known.get(appId) === entry && known.delete(appId))
    return entry.answer
  }
  return {
    async serviceClients(asked) {
      if (asked.length === 0) return new Map()
      const found = await look(asked)
      for (const { tokenId } of found) if (tokenId) note('token', tokenId)
      return new Map(found.map(({ asked: by, ...client }) => [by, shown(client)]))
    },
    async of(appId) {
      const found = await ofApp(appId)
      return found && shown(found)
    },
    used(appId) {
      ofApp(appId).then(
        found => found && note('client', found.clientId),
        () => {},
      )
    },
    forget: () => known.clear(),
    settle: async () => void (await Promise.all(writing)),
  }
}

const shown = ({ appId, active, operations }: Pick<Found, 'appId' | 'active' | 'operations'>): ServiceClient => ({ appId, active, operations })
