import { createHash } from 'node:crypto'
import { DatabaseError, type Sequelize, type Transaction } from 'sequelize'

/** A statement that reads: each connection parses it once and knows it by its name from then on. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/**
 * Names a statement after its text. Make it once and keep it: a text that is put together anew for each call would be remembered by
 * every connection for ever.
 */
export const statement = (text: string): Statement => ({ name: createHash('sha1').update(text).digest('base64url'), text })

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
}

/** What is used of pg's client. */
interface Client {
  readonly connection: { readonly stream: { cork(): void; uncork(): void } }
  query(query: Query): Promise<{ rows: unknown[] }>
}

interface Query {
  readonly name?: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** A read, and what its name was made of. */
interface Asked extends Query {
  readonly statement: Statement | NamelessStatement
  readonly edition: number
}

interface Pool {
  getConnection(options: object): Promise<Client>
  releaseConnection(client: Client): void
}

interface Waiting {
  readonly asked: Asked
  resolve(rows: unknown[]): void
  reject(cause: unknown): void
}

/** How many reads go over one connection together: behind a slow one the others wait. */
const mostTogether = 4

/** What is known of one database. */
interface Reads {
  /** What was asked in this turn. */
  readonly waiting: Waiting[]
  /**
   * How often statements were found outdated. It is part of their names, so that every connection parses what it is asked next anew, and
   * none has to be given up.
   */
  edition: number
}

const readsOf = new WeakMap<Sequelize, Reads>()

function readsAt(sequelize: Sequelize): Reads {
  let reads = readsOf.get(sequelize)
  if (!reads) {
    reads = { waiting: [], edition: 0 }
    readsOf.set(sequelize, reads)
  }
  return reads
}

function ask({ edition }: Reads, statement: Statement | NamelessStatement, values: readonly unknown[]): Asked {
  const { name, text } = statement
  return { ...(name !== undefined && { name: edition === 0 ? name : `${name}.${edition}` }), text, values, statement, edition }
}

/**
 * Reads rows with nothing between the statement and the wire but the pool. What is asked in one turn goes out together, some reads over
 * one connection in one round trip, for none of them depends on another.
 * @param transaction to read in; there each read is a round trip of its own
 * @throws DatabaseError
 */
export async function rows<Row>(
  sequelize: Sequelize,
  statement: Statement | NamelessStatement,
  values: readonly unknown[],
  transaction?: Transaction | null,
): Promise<Row[]> {
  const reads = readsAt(sequelize)
  const asked = ask(reads, statement, values)
  if (transaction) {
    const { connection } = transaction as unknown as { connection: Client }
    try {
      return (await connection.query(asked)).rows as Row[]
    } catch (cause) {
      // The transaction is lost with it; the next one is asked under a new name.
      noteOutdated(reads, asked, cause)
      throw databaseError(cause)
    }
  }
  const { promise, resolve, reject } = Promise.withResolvers<unknown[]>()
  if (reads.waiting.push({ asked, resolve, reject }) === 1) setImmediate(sendAll, sequelize, reads)
  return promise as Promise<Row[]>
}

function sendAll(sequelize: Sequelize, reads: Reads): void {
  while (reads.waiting.length > 0) void send(sequelize, reads, reads.waiting.splice(0, mostTogether))
}

async function send(sequelize: Sequelize, reads: Reads, together: readonly Waiting[]): Promise<void> {
  const pool = (sequelize as unknown as { connectionManager: Pool }).connectionManager
  let client: Client
  try {
    client = await pool.getConnection({ type: 'SELECT', useMaster: true })
  } catch (cause) {
    for (const { reject } of together) reject(cause)
    return
  }
  const { stream } = client.connection
  stream.cork()
  const answers = together.map(({ asked, resolve, reject }) =>
    client
      .query(asked)
      // An outdated statement has not run: once more, then.
      .catch(cause => (noteOutdated(reads, asked, cause) ? client.query(ask(reads, asked.statement, asked.values)) : Promise.reject(cause)))
      .then(
        ({ rows }) => resolve(rows),
        cause => reject(databaseError(cause)),
      ),
  )
  stream.uncork()
  await Promise.all(answers)
  pool.releaseConnection(client)
}

/** 26000: the server does not know it. 0A000 of the plan cache: its columns have other types than when it was parsed, as after a migration. */
const isOutdated = ({ code, routine }: { code?: string; routine?: string }): boolean =>
  code === '26000' || (code === '0A000' && routine === 'RevalidateCachedQuery')

/**
 * Without it a connection would refuse the statement for as long as it is open, and one that is busy is never closed.
 * @returns whether the statement failed because it is outdated
 */
function noteOutdated(reads: Reads, { name, edition }: Asked, cause: unknown): boolean {
  if (name === undefined || !isOutdated((cause ?? {}) as object)) return false
  // What else was on its way under the same edition has been noted with it.
  if (edition === reads.edition) reads.edition += 1
  return true
}

/** Errors of a read are told like those of a write. */
const databaseError = (cause: unknown): DatabaseError => Object.assign(new DatabaseError(cause as ConstructorParameters<typeof DatabaseError>[0]), { cause })
