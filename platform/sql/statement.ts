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
  query(statement: { readonly name?: string; readonly text: string; readonly values: readonly unknown[] }): Promise<{ rows: unknown[] }>
}

interface Pool {
  getConnection(options: object): Promise<Client>
  releaseConnection(client: Client): void
}

/**
 * Reads rows with nothing between the statement and the wire but the pool.
 * @param transaction to read in; without one, a connection is taken for this statement
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
  const pool = (sequelize as unknown as { connectionManager: Pool }).connectionManager
  const client = await pool.getConnection({ type: 'SELECT', useMaster: true })
  try {
    return (await client.query(query).catch(asDatabaseError)).rows as Row[]
  } finally {
    pool.releaseConnection(client)
  }
}

/** Errors of a read are told like those of a write. */
function asDatabaseError(cause: unknown): never {
  throw Object.assign(new DatabaseError(cause as ConstructorParameters<typeof DatabaseError>[0]), { cause })
}
