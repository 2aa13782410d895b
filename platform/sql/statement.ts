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

interface Pool {
  getConnection(options: object): Promise<Client>
  releaseConnection(client: Client): void
}

interface Waiting {
  readonly query: Query
  resolve(rows: unknown[]): void
  reject(cause: unknown): void
}

/** How many reads go over one connection together: behind a slow one the others wait. */
const mostTogether = 4

const waitingOf = new WeakMap<Sequelize, Waiting[]>()

/**
 * Reads rows with nothing between the statement and the wire but the pool. What is asked in one turn goes out together, some reads over
 * one connection in one round trip, for none of them depends on another.
 * @param transaction to read in; there each read is a round trip of its own
 * @throws DatabaseError
 */
export async function rows<Row>(
  sequelize: Sequelize,
  { name, text }: Statement | NamelessStatement,
  values: readonly unknown[],
  transaction?: Transaction | null,
): Promise<Row[]> {
  const query = { ...(name !== undefined && { name }), text, values }
  if (transaction) {
    const { connection } = transaction as unknown as { connection: Client }
    return (await connection.query(query).catch(asDatabaseError)).rows as Row[]
  }
  let waiting = waitingOf.get(sequelize)
  if (!waiting) {
    waiting = []
    waitingOf.set(sequelize, waiting)
  }
  const { promise, resolve, reject } = Promise.withResolvers<unknown[]>()
  if (waiting.push({ query, resolve, reject }) === 1) setImmediate(sendAll, sequelize, waiting)
  return promise as Promise<Row[]>
}

function sendAll(sequelize: Sequelize, waiting: Waiting[]): void {
  while (waiting.length > 0) void send(sequelize, waiting.splice(0, mostTogether))
}

async function send(sequelize: Sequelize, together: readonly Waiting[]): Promise<void> {
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
  const answers = together.map(({ query, resolve, reject }) =>
    client.query(query).then(
      ({ rows }) => resolve(rows),
      cause => reject(databaseError(cause)),
    ),
  )
  stream.uncork()
  await Promise.all(answers)
  pool.releaseConnection(client)
}

/** Errors of a read are told like those of a write. */
const databaseError = (cause: unknown): DatabaseError => Object.assign(new DatabaseError(cause as ConstructorParameters<typeof DatabaseError>[0]), { cause })

function asDatabaseError(cause: unknown): never {
  throw databaseError(cause)
}
