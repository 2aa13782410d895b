import { graphql } from 'graphql'
import pg from 'pg'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { createOpenPool } from '../../../db/connect.ts'
import { createBoundClock } from '../../../platform/clock.ts'
import { createMemoryEvents } from '../../../platform/events.ts'
import { createOpenJobs } from '../../../platform/jobs/jobs.ts'
import { define, type Identity } from '../../../subgraphs/identity/definition.ts'
import { scopesOf } from '../../../subgraphs/scopes.ts'
import type { Foundation } from '../../../subgraphs/subgraph.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import { type Answer, readAnswer } from '../../kit/answer.ts'
import { createTestDatabase, type TestDatabase } from '../../kit/database.ts'
import { unbounded } from '../../kit/reading.ts'

export const origin = 'http://localhost:4000'
export const password = 'correct horse battery'
export const secret = 'a secret of the tests that is long enough'

export const quotas = { organizationsADay: 5, organizationsAPerson: 8, membersAnOrganization: 5, additionsAnHour: 40, keysAnOrganization: 6, keysADay: 8 }

const unused = (): never => {
  throw new Error('identity does not use this')
}

/** Identity alone on a database of its own, with a clock that the test moves. */
export async function openIdentity() {
  const database = await createTestDatabase()
  const clock = createBoundClock(new Date())
  const openPool = createOpenPool({ url: database.url, log: pino({ level: 'silent' }) })
  const foundation: Foundation = {
    environment: 'development',
    publicUrl: origin,
    sequelize: database.sequelize,
    openPool,
    openJobs: createOpenJobs({ openPool }),
    events: createMemoryEvents(),
    ask: unused,
    carrier: { receivers: [], carry: unused },
    clock,
    cipher: { seal: unused, open: unused },
    outbound: unused,
    log: pino({ level: 'silent' }),
    metrics: new Registry(),
  }
  const settings = {
    secret,
    trustsOrigin: (origin: string) => origin === 'https://web.test',
    clientAddressHeader: 'x-client-address',
    quotas,
    retention: { auditDays: 400 },
  }
  const identity = define(foundation, settings)
  return {
    database,
    clock,
    identity,
    foundation,
    settings,
    async [Symbol.asyncDispose]() {
      await identity.stop()
      await database.drop()
    },
  }
}

type OpenIdentity = Awaited<ReturnType<typeof openIdentity>>

/** Identity for the tests of a block: opened once; before each of them its database is empty, and its clock at the present moment. */
export function freshIdentity(): Omit<OpenIdentity, typeof Symbol.asyncDispose> {
  let open: OpenIdentity
  beforeAll(async () => {
    open = await openIdentity()
  })
  afterAll(() => open[Symbol.asyncDispose]())
  beforeEach(async () => {
    await open.database.reset()
    open.clock.set(new Date())
  })
  return new Proxy({} as OpenIdentity, { get: (_, name) => Reflect.get(open, name) })
}

/** Two organizations and the people of both; `ada` is a member of each, first of `acme`. */
export const world = {
  password,
  people: [
    { email: 'owner@acme.test', name: 'Olga Owner' },
    { email: 'admin@acme.test', name: 'Adam Admin' },
    { email: 'ada@acme.test', name: 'Ada Both' },
    { email: 'out@other.test', name: 'Otto Outside' },
    { email: 'super@admin.test', name: 'Sue Super' },
  ],
  organizations: [
    {
      slug: 'acme',
      name: 'Acme',
      members: [
        { email: 'owner@acme.test', roles: ['owner'] },
        { email: 'admin@acme.test', roles: ['admin'] },
        { email: 'ada@acme.test', roles: ['member'] },
      ],
    },
    {
      slug: 'other',
      name: 'Other',
      members: [
        { email: 'out@other.test', roles: ['owner'] },
        { email: 'ada@acme.test', roles: ['viewer'] },
      ],
    },
    { slug: 'admin', name: 'Platform', members: [{ email: 'super@admin.test', roles: ['platform_super_admin'] }] },
  ],
  keys: [{ organization: 'acme', name: 'reader', scopes: ['publishing:posts.read'], createdBy: 'owner@acme.test' }],
} as const

export const userViewer = (userId: string, organizationId: string | null, roles: readonly string[], sessionId: string | null = null): Viewer => ({
  ...anonymous,
  kind: 'user',
  userId,
  organizationId,
  roles,
  scopes: scopesOf(roles),
  context: organizationId ? 'organization' : 'personal',
  sessionId,
})

/** Executes a document in the subgraph, as the router does after its access check. */
export async function execute(identity: Identity, viewer: Viewer, source: string, variables: Record<string, unknown> = {}): Promise<Answer> {
  const contextValue = identity.open(viewer, { requestId: 'test', ...unbounded })
  const result = await graphql({ schema: identity.schema, source, variableValues: variables, contextValue })
  return readAnswer(result, { text: source, variables, as: viewer.userId ?? viewer.kind, requestId: 'test' })
}

let lastAddress = 0

/** Asks identity to sign somebody in, from an address of its own unless the test names one: what others tried holds nobody up. */
export const requestSignIn = (
  identity: Identity,
  email: string,
  secret = password,
  { headers = {}, address = `10.0.0.${++lastAddress}` }: { headers?: Record<string, string>; address?: string } = {},
): Promise<Response> =>
  identity.http(
    new Request(`${origin}/identity/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-client-address': address, ...headers },
      body: JSON.stringify({ email, password: secret }),
    }),
  )

/** The cookie that an answer sets, as a browser sends it back. */
export const cookieOf = (answer: Response): string => answer.headers.getSetCookie()[0]!.split(';')[0]!

/**
 * Brings writers of one table to the same point: holds the table until so many statements of this database wait, then lets go.
 * What has to be serialised further up must have been by then.
 */
export async function atTheSameMoment<Result>(database: TestDatabase, table: string, writers: readonly (() => Promise<Result>)[]): Promise<Result[]> {
  const holder = new pg.Client({ connectionString: database.url })
  holder.on('error', () => {})
  await holder.connect()
  try {
    await holder.query(`begin; lock table ${table} in share row exclusive mode`)
    const results = Promise.all(writers.map(write => write()))
    const waiting = async () => {
      // Within a transaction the activity is read once and remembered.
      await holder.query('select pg_stat_clear_snapshot()')
      const text = "select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
      return (await holder.query<{ n: number }>(text)).rows[0]!.n
    }
    await expect.poll(waiting, { timeout: 5_000 }).toBe(writers.length)
    await holder.query('commit')
    return await results
  } finally {
    await holder.end()
  }
}
