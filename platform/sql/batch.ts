import pg from 'pg'
import type { Reading } from './reading.ts'

/** What is known of an operation where rows are read for it. */
export type Counting = Pick<Reading, 'read' | 'signal' | 'party'>

/** One statement on its way. */
export interface Sent {
  /** Under this name a connection keeps it parsed; without one it is parsed each time. */
  readonly name?: string | undefined
  readonly text: string
  /** As they go over the wire (`prepareValue` of pg). */
  readonly values: readonly (string | Buffer | null)[]
  /** Called with the number of characters of each row before it is stored; an error it throws fails the statement. */
  readonly reading?: Counting | undefined
}

/** The result of a batch: rows of each statement and errors of some, or the error that made all of them void. */
export type Outcome = { readonly rows: readonly unknown[][]; readonly unread: ReadonlyMap<number, Error> | null } | Failure

export interface Failure {
  readonly cause: Error
  /** Which statement failed; null when it was the connection. */
  readonly at: number | null
  /** The connection had kept it parsed and can no longer run it: the next time it is parsed anew. */
  readonly outdated: boolean
}

/** How rows of a statement are made of what comes over the wire. */
interface Shape {
  readonly empty: object
  readonly names: readonly string[]
  readonly parsers: readonly ((text: string) => unknown)[]
}

type Row = Record<string, unknown>

/** What is used of pg's connection. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void }
  close(message: { type: 'S'; name: string }): void
  parse(message: { name: string; text: string }): void
  describe(message: { type: 'S'; name: string }): void
  bind(message: { statement: string; values: readonly unknown[] }): void
  execute(message: null): void
  sync(): void
}

/**
 * The statements parsed on each connection: a name keeps its columns, because PostgreSQL refuses changes to them.
 * Once one connection has refused, all of them are made to parse anew: otherwise each would fail a transaction to find out.
 */
let parsedBy = new WeakMap<Wire, Map<string, Shape>>()

const noColumns: Shape = { empty: {}, names: [], parsers: [] }

/** 26000: the server does not know it. 0A000 of the plan cache: its columns are others than when it was parsed, as after a migration. */
const isOutdated = ({ code, routine }: pg.DatabaseError): boolean => code === '26000' || (code === '0A000' && routine === 'RevalidateCachedQuery')

/**
 * The server ends the session: it was told to, ends itself, or will not wait any longer. Told by the code, for "FATAL" is another word
 * where the server speaks another language.
 */
export const isLeaving = ({ code = '' }: { readonly code?: string | undefined }): boolean => /^(57P0[1-5]|25P0[34])$/.test(code)

// pg calls these methods with its connection and messages; its published types lack them.
const Base = pg.Query as unknown as new (text: string) => object

/**
 * Statements that go to PostgreSQL together: all of them in one write, answered in one, and described only when they are parsed. The
 * statements succeed or fail together, because PostgreSQL runs everything before a Sync as one transaction. A query of pg's by class,
 * because a client that pipelines takes no other.
 */
export class Batch extends Base {
  readonly statements: readonly Sent[]
  done: (outcome: Outcome) => void
  private readonly client: pg.ClientBase
  private found: unknown[][]
  /** Characters that were told of, of each statement. */
  private readonly told: number[]
  /** Those that the connection had parsed before. */
  private readonly kept: (Shape | undefined)[]
  private parsed = new Map<string, Shape>()
  private at = 0
  private shape: Shape
  /** Why rows of a statement could not be read: the rest of the answer has to come in all the same. */
  private unread: Map<number, Error> | null = null

  /** @param done called once, with what became of them */
  constructor(client: pg.ClientBase, statements: readonly Sent[], done: (outcome: Outcome) => void) {
    super('')
    this.client = client
    this.statements = statements
    this.done = done
    this.found = statements.map(() => [])
    this.told = statements.map(() => 0)
    this.kept = []
    this.shape = noColumns
  }

  submit(wire: Wire): null {
    this.parsed = parsedBy.get(wire) ?? new Map()
    parsedBy.set(wire, this.parsed)
    wire.stream.cork()
    for (const { name, text, values } of this.statements) {
      const kept = name === undefined ? undefined : this.parsed.get(name)
      this.kept.push(kept)
      if (!kept) {
        // Closes whatever statement has this name, also one that was parsed and then failed.
        if (name !== undefined) wire.close({ type: 'S', name })
        wire.parse({ name: name ?? '', text })
        wire.describe({ type: 'S', name: name ?? '' })
      }
      wire.bind({ statement: name ?? '', values })
      wire.execute(null)
    }
    wire.sync()
    wire.stream.uncork()
    this.shape = this.kept[0] ?? noColumns
    return null
  }

  /** As pg reads them, but a `bigint` is one: neither text, nor a number that may be another. */
  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    const types = this.client as unknown as { getTypeParser(type: number, format: 'text'): (text: string) => unknown }
    this.shape = {
      empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => (dataTypeID === pg.types.builtins.INT8 ? BigInt : types.getTypeParser(dataTypeID, 'text'))),
    }
    this.keep()
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    if (this.unread?.has(this.at)) return
    const { empty, names, parsers } = this.shape
    const row: Row = { ...empty }
    try {
      this.tell(fields)
      for (let i = 0; i < fields.length; i++) {
        const text = fields[i]
        if (text != null) row[names[i]!] = parsers[i]!(text)
      }
      this.found[this.at]!.push(row)
    } catch (cause) {
      this.unread ??= new Map()
      this.unread.set(this.at, cause as Error)
      // Later rows are dropped, and earlier ones are released.
      this.found[this.at] = []
      this.takeBack(this.at)
    }
  }

  private tell(fields: readonly (string | null)[]): void {
    const { reading } = this.statements[this.at]!
    if (!reading) return
    let characters = 0
    for (const text of fields) if (text !== null) characters += text.length
    this.told[this.at]! += characters
    reading.read(characters)
  }

  /** No result is used: reported rows are withdrawn, because the statements that did not fail are repeated. */
  private fail(failure: Failure): void {
    for (const at of this.told.keys()) this.takeBack(at)
    this.done(failure)
  }

  private takeBack(at: number): void {
    const characters = this.told[at]!
    this.told[at] = 0
    if (characters > 0) this.statements[at]!.reading!.read(-characters)
  }

  handleCommandComplete(): void {
    if (!this.kept[this.at] && this.shape === noColumns) this.keep()
    this.at += 1
    this.shape = this.kept[this.at] ?? noColumns
  }

  handleReadyForQuery(): void {
    // In any case the next query on this connection would receive an answer that belongs to another one.
    if (this.at !== this.statements.length) this.fail({ cause: new Error('the database answered what was not asked'), at: null, outdated: false })
    else this.done({ rows: this.found, unread: this.unread })
  }

  /** Of PostgreSQL, or of the connection. */
  handleError(cause: Error): void {
    const sent = this.statements[this.at]
    // A connection that PostgreSQL closes reports that by an error too.
    if (!(cause instanceof pg.DatabaseError) || isLeaving(cause) || !sent) {
      this.fail({ cause, at: null, outdated: false })
      return
    }
    const outdated = this.kept[this.at] !== undefined && isOutdated(cause)
    if (outdated) parsedBy = new WeakMap()
    this.fail({ cause, at: this.at, outdated })
  }

  private keep(): void {
    const { name } = this.statements[this.at]!
    if (name !== undefined) this.parsed.set(name, this.shape)
  }
}
