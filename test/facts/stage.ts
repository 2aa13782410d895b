import { pino } from 'pino'
import { createOpenPool } from '../../db/connect.ts'
import type { Fact, FactCarrier } from '../../platform/jobs/facts/fact.ts'
import { createOpenJobs } from '../../platform/jobs/jobs.ts'
import { rows, statement } from '../../platform/sql/statement.ts'
import { type WriteTransaction, writeFacts } from '../../subgraphs/store/books.ts'
import { contextsOf, type JobContextOf } from '../../subgraphs/store/context.ts'
import type { NewFact } from '../../subgraphs/store/fact-kinds.ts'
import { type Facts, openFacts, type Received, type Receives } from '../../subgraphs/store/facts.ts'
import { inTransaction } from '../../subgraphs/store/write.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'
import { type BoundTime, boundTime } from '../kit/time.ts'

type Job = JobContextOf<Record<never, never>, object>

/** Identity, which tells, and publishing, which is told and writes down in a table of its own what it acted on. */
export interface FactStage extends AsyncDisposable {
  readonly database: TestDatabase
  readonly clock: BoundTime
  readonly log: readonly Record<string, unknown>[]
  readonly writer: Facts
  readonly receiver: Facts
  /** What happens on the way; the receiver's own door unless a test stands in it. */
  way: FactCarrier['carry']
  /** What the receiver does in the transaction of a fact before it writes it down. */
  acting: (fact: Received<'organization.created'>, unit: WriteTransaction) => Promise<void>
  /** Opens another process of the writer, which delivers too. */
  another(): Promise<void>
  start(): Promise<void>
  /** Tells, in one transaction, that organizations were created: each subject is one organization. */
  write(...facts: { subject: string; name: string }[]): Promise<void>
  /** Tells the same, and then fails in the same transaction. */
  writeAndFail(...facts: { subject: string; name: string }[]): Promise<void>
  /** What the receiver acted on, in order: `[subject, name]`. */
  acted(): Promise<[string, string][]>
  sql<Row extends object = Record<string, unknown>>(text: string, bind?: unknown[]): Promise<Row[]>
}

export const created = (subject: string, name: string): NewFact => ({ kind: 'organization.created', body: { organizationId: subject, slug: 'story', name } })

/** An id that a test knows by a small number. */
export const subjectOf = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`

const note = statement('insert into story.acted (subject, name) values ($1, $2)')

export interface FactStageOptions {
  /** How many connections writer and receiver have. @default 8 */
  readonly concurrently?: number
  /** Who is there to be told; of these publishing alone has a door of its own. @default publishing */
  readonly receivers?: readonly string[]
}

export async function factStage({ concurrently = 8, receivers = ['publishing'] }: FactStageOptions = {}): Promise<FactStage> {
  await using opening = new AsyncDisposableStack()
  const database = opening.use(await createTestDatabase({ poolSize: concurrently }))
  const { sequelize } = database
  await sequelize.query('create schema story; create table story.acted (place bigint generated always as identity, subject text, name text)')
  const clock = boundTime()
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'debug' }, { write: line => void lines.push(JSON.parse(line)) })
  const openPool = createOpenPool({ url: database.url, log })
  const openJobs = createOpenJobs({ openPool, clock: clock.jobs })
  const carrier: FactCarrier = { receivers, carry: (receiver, fact) => stage.way(receiver, fact) }
  const received: Receives<'publishing', Job> = {
    async 'organization.created'(fact, _, unit) {
      await stage.acting(fact, unit)
      await rows(sequelize, note, [fact.body.organizationId, fact.body.name], unit.transaction)
    },
    'membership.removed': async () => {},
    'email.outcome': async () => {},
    'profile.erased': async () => {},
    'profile.withdrawn': async () => {},
    'app.installed': async () => {},
    'app.uninstalled': async () => {},
    'subscription.changed': async () => {},
  }
  const receiver: Facts = openFacts({ sequelize, clock, carrier }, { slug: 'publishing', received, job: () => receiving.systemContext('facts'), log })
  const receiving = contextsOf('publishing', {}, {}, { sequelize, clock }, receiver)
  const openWriter = () => {
    const writer: Facts = openFacts({ sequelize, clock, carrier }, { slug: 'identity', received: {}, job: () => writing.systemContext('story'), log })
    const writing = contextsOf('identity', {}, {}, { sequelize, clock }, writer)
    const jobs = openJobs({ slug: 'identity', queues: [], sweeps: writer.sweeps, log })
    return { writer, writing, jobs, end: async () => void (await Promise.all([jobs.stop(), writer.stop()])) }
  }
  const { writer, writing, jobs, end } = openWriter()
  opening.defer(end)
  const tellAll = async (facts: readonly { subject: string; name: string }[], afterwards = async () => {}) => {
    const job = writing.systemContext('story')
    await inTransaction(job, async unit => {
      const made = facts.map(({ subject, name }) => created(subject, name))
      await writeFacts(job, made, unit)
      await afterwards()
    })
  }
  const opened = opening.move()
  const stage: FactStage = {
    database,
    clock,
    log: lines,
    writer,
    receiver,
    way: (_, fact) => receiver.receive(onTheWire(fact)),
    acting: async () => {},
    async another() {
      const other = openWriter()
      opened.defer(other.end)
      await other.jobs.start()
    },
    start: () => jobs.start(),
    write: (...facts) => tellAll(facts),
    writeAndFail: (...facts) => tellAll(facts, () => Promise.reject(new Error('it fails after all'))),
    async acted() {
      const found = await stage.sql<{ subject: string; name: string }>('select subject, name from story.acted order by place')
      return found.map(({ subject, name }) => [subject, name])
    },
    sql: async <Row extends object>(text: string, bind: unknown[] = []) => (await sequelize.query(text, { bind }))[0] as Row[],
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
  return stage
}

/** A fact as it comes over HTTP. */
const onTheWire = (fact: Fact): Fact => {
  const { at, ...rest } = JSON.parse(JSON.stringify(fact))
  return { ...rest, at: new Date(at) }
}
