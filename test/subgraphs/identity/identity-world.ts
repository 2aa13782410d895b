import { randomBytes } from 'node:crypto'
import { graphql } from 'graphql'
import pg from 'pg'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { createOpenPool } from '../../../db/connect.ts'
import { createCipher } from '../../../platform/cipher.ts'
import { createBoundClock } from '../../../platform/clock.ts'
import { createMemoryEvents } from '../../../platform/events.ts'
import { createOpenJobs } from '../../../platform/jobs/jobs.ts'
import { define } from '../../../subgraphs/identity/definition.ts'
import type { Identity } from '../../../subgraphs/identity/nouns/identity.ts'
import { scopesOf } from '../../../subgraphs/scopes.ts'
import type { Foundation } from '../../../subgraphs/subgraph.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import { type Answer, readAnswer } from '../../kit/answer.ts'
import { createTestDatabase, type TestDatabase } from '../../kit/database.ts'
import { openMailbox } from '../../kit/mailbox.ts'
import { unbounded } from '../../kit/reading.ts'
import { collectSecrets, type Secrets } from '../../kit/secrets.ts'

export const origin = 'http://localhost:4000'
export const password = 'correct horse battery'
export const secret = 'a secret of the tests that is long enough'

export const quotas = {
  organizationsADay: 5,
  organizationsAPerson: 8,
  membersAnOrganization: 5,
  additionsAnHour: 40,
  invitationsADay: 6,
  pendingInvitations: 4,
  keysAnOrganization: 6,
  keysADay: 8,
}

const unused = (): never => {
  throw new Error('identity does not use this')
}

/** Opens what was sealed in the same test file. */
export const cipher = createCipher([{ id: 'k1', key: randomBytes(32) }])

/**
 * Identity alone on a database of its own, with a clock that the test moves.
 * @param options.started whether its jobs run by themselves, and its mails come to `mailbox`; what sends one needs it @default false
 */
export async function openIdentity({ started = false }: { readonly started?: boolean } = {}) {
  const database = await createTestDatabase()
  const mailbox = await openMailbox()
  const clock = createBoundClock(new Date())
  const [lines, secrets] = [[] as string[], collectSecrets()]
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
  const foundationOfProcess = (): Foundation => {
    const openPool = createOpenPool({ url: database.url, log })
    return {
      environment: 'development',
      publicUrl: origin,
      sequelize: database.sequelize,
      openPool,
      openJobs: createOpenJobs({ openPool }),
      events: createMemoryEvents(),
      isAlone: true,
      ask: unused,
      call: null,
      carrier: { receivers: ['launcher'], carry: unused },
      clock,
      cipher,
      storage: () => {
        throw new Error('identity keeps no objects')
      },
      outbound: Object.assign(unused, { stream: unused }),
      callersWay: { outbound: Object.assign(unused, { stream: unused }), reaches: unused },
      log,
      metrics: new Registry(),
    }
  }
  const foundation = foundationOfProcess()
  const settings = {
    secret,
    trustsOrigin: (origin: string) => origin === 'https://web.test',
    clientAddressHeader: 'x-client-address',
    quotas,
    retention: { auditDays: 400 },
    signUp: 'open' as const,
    registry: { production: null },
    foreignIssuer: null,
    mobileBuilds: {},
    mail: mailbox.settings,
  }
  const identity = watched(define(foundation, settings), secrets)
  /** @throws where a password, token, key or code that was sent or answered stands in the log, a record, a fact or a job */
  const requireNoLeaks = async () => {
    // A test may have taken the database away, or a table of it: then nothing is left to look at.
    const leaks = await secrets.leaks(lines, database.sequelize).catch(() => [])
    if (leaks.length > 0) throw new Error(`passwords, tokens, keys or codes stand where others read them:\n${leaks.slice(0, 5).join('\n')}`)
  }
  if (started) await identity.start()
  return {
    database,
    clock,
    identity,
    foundation,
    /** What another process of identity on the same database stands on. */
    anotherProcess: foundationOfProcess,
    settings,
    mailbox,
    requireNoLeaks,
    async [Symbol.asyncDispose]() {
      const looked = await requireNoLeaks().then(
        () => null,
        error => error,
      )
      await identity.stop()
      await mailbox[Symbol.asyncDispose]()
      await database.drop()
      if (looked) throw looked
    },
  }
}

/** Identity, of which whatever is secret in what it is sent and answers is noted. */
function watched(identity: Identity, secrets: Secrets): Identity {
  const noteText = (text: string, type: string | null) => {
    if (type?.startsWith('application/x-www-form-urlencoded')) secrets.noteFields(new URLSearchParams(text))
    if (type && /json/.test(type) && text) secrets.note(JSON.parse(text))
  }
  const http: Identity['http'] = async (request, ...rest) => {
    const sent = request.clone()
    const answer = await identity.http(request, ...rest)
    try {
      noteText(await sent.text(), sent.headers.get('content-type'))
      noteText(await answer.clone().text(), answer.headers.get('content-type'))
    } catch {
      // What cannot be read is no credential.
    }
    secrets.noteFields(new URLSearchParams(answer.headers.get('location')?.split('?')[1]))
    secrets.noteCookies(answer.headers.getSetCookie())
    return answer
  }
  return Object.create(identity, { http: { value: http } })
}

type OpenIdentity = Awaited<ReturnType<typeof openIdentity>>

/** Identity for the tests of a block: opened once; before each of them its database is empty, and its clock at the present moment. */
export function freshIdentity(options: Parameters<typeof openIdentity>[0] = {}): Omit<OpenIdentity, typeof Symbol.asyncDispose> {
  let open: OpenIdentity
  beforeAll(async () => {
    open = await openIdentity(options)
  })
  afterAll(() => open[Symbol.asyncDispose]())
  afterEach(() => open.requireNoLeaks())
  beforeEach(async () => {
    await open.database.reset()
    open.mailbox.empty()
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
