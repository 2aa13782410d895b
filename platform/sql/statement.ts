import { createHash } from 'node:crypto'
import type pg from 'pg'
import utils from 'pg/lib/utils.js'
import { DatabaseError, type Sequelize, type Transaction } from 'sequelize'
import { organizationNow } from '../caller/cause.ts'
import { noParty, type Places } from '../caller/places.ts'
import { finished, keptSpan } from '../caller/trace.ts'
import { DomainError } from '../errors.ts'
import { Batch, type Counting, type Outcome, type Sent } from './batch.ts'
import { sharesOf } from './shares.ts'
import { factsOfSql, nameOfSql } from './span.ts'

/** A read statement: each connection parses it once and refers to it by its name from then on. */
export interface Statement {
  readonly name: string
  readonly text: string
  /**
   * Whether the statement locks rows: then it runs in a transaction of its own and does not hold locks while other
   * reads wait.
   */
  readonly locks?: true
}

/**
 * Names a statement after its text. Create it once and keep it: every connection would remember texts that are built
 * for each call forever.
 */
export const statement = (text: string): Statement => ({ name: createHash('sha1').update(text).digest('base64url'), text })

/** Names a statement that locks rows outside of a transaction. */
export const lockingStatement = (text: string): Statement => ({ ...statement(text), locks: true })

/**
 * Names statements that are built on demand: the first ones, while further ones stay without a name.
 * @param most number of named ones
 */
export function keptStatements(most: number): (text: string) => Statement | NamelessStatement {
  const known = new Map<string, Statement>()
  return text => {
    const present = known.get(text)
    if (present) return present
    if (known.size >= most) return { text }
    const made = statement(text)
    known.set(text, made)
    return made
  }
}

/** A statement that is parsed each time. */
export interface NamelessStatement {
  readonly name?: undefined
  readonly text: string
  readonly locks?: undefined
}

/** pg's client, with the members used beyond its published types. */
type Client = pg.ClientBase & {
  /** When set, the pool no longer lends the client. */
  _invalid?: true
  query(batch: Batch): void
}

interface Manager {
  getConnection(options: object): Promise<Client>
  releaseConnection(client: Client): void
}

interface Waiting {
  /** The organization or address whose reads take turns with those of others. */
  readonly party: string
  readonly statement: Statement | NamelessStatement
  readonly sent: Sent
  resolve(rows: readonly unknown[]): void
  reject(cause: unknown): void
}

/** Maximum number of reads that share one round trip. */
const mostTogether = 4

/**
 * Time in ms above which a statement gets round trips of its own from then on, so that no other read waits for its
 * rows.
 */
const quickMs = 250

/** Statements whose last run took less than `quickMs`. */
const quick = new WeakSet<Statement | NamelessStatement>()

/** Reads of the present turn of the event loop, by pool, which are not sent yet. */
const waitingFor = new WeakMap<Sequelize, Waiting[]>()

function waitingIn(sequelize: Sequelize): Waiting[] {
  const known = waitingFor.get(sequelize)
  if (known) return known
  const waiting: Waiting[] = []
  waitingFor.set(sequelize, waiting)
  return waiting
}

/**
 * Reads rows directly over the pool. Reads of one turn of the event loop are sent together, some over one connection in
 * one round trip, because they are independent: quick ones are answered together, slower ones follow one by one. A
 * failing read fails alone: the reads sent with it are repeated.
 * @param transaction to read in; there each read is a round trip of its own
 * @param reading     the operation that it reads for: it is notified of each row as it arrives, so that an operation at
 * its limit holds
 *   no more, however much a statement finds @default not counted
 * @throws DatabaseError; BAD_USER_INPUT for a text with NUL in it
 */
export function rows<Row>(
  sequelize: Sequelize,
  wanted: Statement | NamelessStatement,
  values: readonly unknown[],
  transaction?: Transaction | null,
  reading?: Counting,
): Promise<Row[]> {
  const above = keptSpan()
  if (!above) return read(sequelize, wanted, values, transaction, reading)
  return finished(above.begin(nameOfSql(wanted.text), 'client', factsOfSql(wanted.text)), () => read(sequelize, wanted, values, transaction, reading))
}

async function read<Row>(...[sequelize, wanted, values, transaction, reading]: Parameters<typeof rows>): Promise<Row[]> {
  const sent: Sent = { name: wanted.name, text: wanted.text, values: values.map(bound), reading }
  if (transaction) {
    const { connection } = transaction as unknown as { connection: Client }
    const outcome = await send(connection, [sent])
    const cause = 'rows' in outcome ? outcome.unread?.get(0) : outcome.cause
    if ('rows' in outcome && !cause) return outcome.rows[0] as Row[]
    throw databaseError(cause)
  }
  const waiting = waitingIn(sequelize)
  const { promise, resolve, reject } = Promise.withResolvers<readonly unknown[]>()
  const party = reading?.party ?? organizationNow() ?? noParty
  if (waiting.push({ party, statement: wanted, sent, resolve, reject }) === 1) setImmediate(readAll, sequelize, waiting)
  return promise as Promise<Row[]>
}

/**
 * Converts a value to wire format. @throws BAD_USER_INPUT for a text that PostgreSQL cannot represent, for the client
 * who sent it
 */
function bound(value: unknown): string | Buffer | null {
  const written = utils.prepareValue(value)
  if (typeof written === 'string' && written.includes('\0'))
    throw new DomainError('BAD_USER_INPUT', 'A text contains the character NUL, which cannot be stored: remove it.')
  return written
}

function readAll(sequelize: Sequelize, waiting: Waiting[]): void {
  const { reads: places } = sharesOf(sequelize)
  const parties = Map.groupBy(waiting.splice(0), ({ party }) => party)
  for (const [party, reads] of parties) while (reads.length > 0) void readSome(sequelize, places, party, reads.splice(0, mostTogether))
}

/** Sends some reads of one party over one connection, once the party gets one. */
async function readSome(sequelize: Sequelize, places: Places, party: string, some: readonly Waiting[]): Promise<void> {
  const place = places.enter(party)
  if (place) await place
  try {
    // Some have waited for their turn, and their operation may be over.
    const wanted = place ? some.filter(isWanted) : some
    if (wanted.length > 0) await readOver(sequelize, wanted)
  } finally {
    places.leave(party)
  }
}

async function readOver(sequelize: Sequelize, some: readonly Waiting[]): Promise<void> {
  const pool = (sequelize as unknown as { connectionManager: Manager }).connectionManager
  let client: Client
  try {
    client = await pool.getConnection({ type: 'SELECT', useMaster: true })
  } catch (cause) {
    for (const { reject } of some) reject(cause)
    return
  }
  const wanted = some.filter(isWanted)
  const [together, alone] = [wanted.filter(({ statement }) => quick.has(statement)), wanted.filter(({ statement }) => !quick.has(statement))]
  await readTogether(client, together)
  // Slow statements often have large results, so they run one by one, and only while their caller still waits.
  for (const each of alone) if (isWanted(each)) await readTogether(client, [each])
  pool.releaseConnection(client)
}

/** Settles every read, with one round trip and another for each failure among them. */
async function readTogether(client: Client, reads: readonly Waiting[]): Promise<void> {
  for (let left = reads; left.length > 0; ) {
    const sentAt = performance.now()
    const outcome = await send(
      client,
      left.map(({ sent }) => sent),
    )
    const isQuick = performance.now() - sentAt < quickMs
    for (const { statement } of left) isQuick && !statement.locks ? quick.add(statement) : quick.delete(statement)
    if ('rows' in outcome) {
      for (const [at, { resolve, reject }] of left.entries()) {
        const cause = outcome.unread?.get(at)
        if (cause) reject(databaseError(cause))
        else resolve(outcome.rows[at]!)
      }
      return
    }
    const { cause, at, outdated } = outcome
    if (at === null) {
      client._invalid = true
      for (const { reject } of left) reject(databaseError(cause))
      return
    }
    if (outdated) continue
    left[at]!.reject(databaseError(cause))
    left = left.toSpliced(at, 1).filter(isWanted)
  }
}

/** Whether a read's caller still waits: reads of an ended operation are not repeated. */
function isWanted({ sent: { reading }, reject }: Waiting): boolean {
  if (!reading?.signal.aborted) return true
  reject(reading.signal.reason)
  return false
}

const send = (client: Client, statements: readonly Sent[]): Promise<Outcome> => new Promise(resolve => client.query(new Batch(client, statements, resolve)))

/** Converts errors of reads like those of writes; exceeding an operation's limit is no database error. */
const databaseError = (cause: unknown): Error =>
  cause instanceof DomainError ? cause : Object.assign(new DatabaseError(cause as ConstructorParameters<typeof DatabaseError>[0]), { cause })
