import { createHash } from 'node:crypto'
import type pg from 'pg'
import utils from 'pg/lib/utils.js'
import { DatabaseError, type Sequelize, type Transaction } from 'sequelize'
import { organizationNow } from '../caller/cause.ts'
import { createPlaces, noParty, type Places } from '../caller/places.ts'
import { finished, keptSpan } from '../caller/trace.ts'
import { Refusal } from '../errors.ts'
import { Batch, type Counting, type Outcome, type Sent } from './batch.ts'
import { factsOfSql, nameOfSql } from './span.ts'

/** A statement that reads: each connection parses it once and knows it by its name from then on. */
export interface Statement {
  readonly name: string
  readonly text: string
  /** It locks rows, so it runs in a transaction of its own and does not hold locks while other reads wait. */
  readonly locks?: true
}

/**
 * Names a statement after its text. Make it once and keep it: a text that is put together anew for each call would be remembered by
 * every connection for ever.
 */
export const statement = (text: string): Statement => ({ name: createHash('sha1').update(text).digest('base64url'), text })

/** The same for one that locks rows outside of a transaction. */
export const lockingStatement = (text: string): Statement => ({ ...statement(text), locks: true })

/**
 * For texts that are put together as they are needed: names those that come first, and leaves the others without a name.
 * @param most how many are named
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

/** pg's client, with what is used of it beyond its types. */
type Client = pg.ClientBase & {
  /** Set, the pool hands it out no more. */
  _invalid?: true
  query(batch: Batch): void
}

interface Manager {
  readonly pool: { readonly maxSize: number }
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

/** How many reads go over one connection together. */
const mostTogether = 4

/** A statement that takes longer, in ms, gets a round trip of its own from then on, so that no other read waits for its rows. */
const quickMs = 250

/** Statements that took less than `quickMs` the last time. */
const quick = new WeakSet<Statement | NamelessStatement>()

/** Reads of one pool. */
interface Reads {
  /** Reads of the present turn of the event loop, which are not sent yet. */
  readonly waiting: Waiting[]
  readonly places: Places
}

const readsOf = new WeakMap<Sequelize, Reads>()

/** One party has half of a pool's connections for its reads at most. */
function readsIn(sequelize: Sequelize): Reads {
  const known = readsOf.get(sequelize)
  if (known) return known
  const all = (sequelize as unknown as { connectionManager: Manager }).connectionManager.pool.maxSize
  const reads: Reads = { waiting: [], places: createPlaces({ all, ofParty: Math.ceil(all / 2) }) }
  readsOf.set(sequelize, reads)
  return reads
}

/**
 * Reads rows with nothing between the statement and the wire but the pool. Reads of one turn of the event loop are sent together, some
 * over one connection in one round trip, because they are independent. Those that are known to be quick are answered together; the others
 * are sent one after the other behind them. A read that fails fails alone: what went with it is read again.
 * @param transaction to read in; there each read is a round trip of its own
 * @param reading     the operation that it is read for: it is told of each row as that comes in, so that one that may hold no more holds
 *   no more, however much a statement finds @default nobody counts
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
  const reads = readsIn(sequelize)
  const { promise, resolve, reject } = Promise.withResolvers<readonly unknown[]>()
  const party = reading?.party ?? organizationNow() ?? noParty
  if (reads.waiting.push({ party, statement: wanted, sent, resolve, reject }) === 1) setImmediate(readAll, sequelize, reads)
  return promise as Promise<Row[]>
}

/** A value as it goes over the wire. @throws BAD_USER_INPUT for a text that PostgreSQL has no form for: whoever sent it is told */
function bound(value: unknown): string | Buffer | null {
  const written = utils.prepareValue(value)
  if (typeof written === 'string' && written.includes('\0'))
    throw new Refusal('BAD_USER_INPUT', 'A text holds the character NUL, which nothing that is kept here has: leave it out.')
  return written
}

function readAll(sequelize: Sequelize, { waiting, places }: Reads): void {
  const parties = Map.groupBy(waiting.splice(0), ({ party }) => party)
  for (const [party, reads] of parties) while (reads.length > 0) void readSome(sequelize, places, party, reads.splice(0, mostTogether))
}

/** Sends some reads of one party over one connection, once the party may have one. */
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
  // What is slow is often large, and no more of it is sent than somebody waits for.
  for (const each of alone) if (isWanted(each)) await readTogether(client, [each])
  pool.releaseConnection(client)
}

/** Settles every one of them, by as many round trips as there are failures among them and one. */
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

/** Whether somebody still waits for it: of an operation that is over nothing is read again. */
function isWanted({ sent: { reading }, reject }: Waiting): boolean {
  if (!reading?.signal.aborted) return true
  reject(reading.signal.reason)
  return false
}

const send = (client: Client, statements: readonly Sent[]): Promise<Outcome> => new Promise(resolve => client.query(new Batch(client, statements, resolve)))

/** Errors of a read are told like those of a write; that it was too much for its operation is no error of the database. */
const databaseError = (cause: unknown): Error =>
  cause instanceof Refusal ? cause : Object.assign(new DatabaseError(cause as ConstructorParameters<typeof DatabaseError>[0]), { cause })
