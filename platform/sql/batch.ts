import pg from 'pg'
import type { Reading } from './reading.ts'

/** The parts of an operation that count its reads. */
export type Counting = Pick<Reading, 'read' | 'signal' | 'party'>

/** A statement that was sent. */
export interface Sent {
  /** Name under which a connection caches the parsed statement; without one it is parsed each time. */
  readonly name?: string | undefined
  readonly text: string
  /** Parameters in wire format (`prepareValue` of pg). */
  readonly values: readonly (string | Buffer | null)[]
  /** Called with the characters of each row before it is stored; an error that it throws fails the statement. */
  readonly reading?: Counting | undefined
}

/** The result of a batch: rows of each statement and errors of some, or the error that failed all of them. */
export type Outcome = { readonly rows: readonly unknown[][]; readonly unread: ReadonlyMap<number, Error> | null } | Failure

export interface Failure {
  readonly cause: Error
  /** Index of the failed statement; null when the connection failed. */
  readonly at: number | null
  /** Whether the connection's cached statement can no longer run: the next time it is parsed again. */
  readonly outdated: boolean
}

/** How to build a statement's rows from the wire format. */
interface Shape {
  readonly empty: object
  readonly names: readonly string[]
  readonly parsers: readonly ((text: string) => unknown)[]
}

type Row = Record<string, unknown>

/** The parts of pg's connection that are used. */
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
 * Statements parsed on each connection: a cached one keeps its columns, because PostgreSQL rejects it after they
 * change. Once one connection has rejected a statement, all connections parse anew: otherwise each would fail a
 * transaction to find out.
 */
let parsedBy = new WeakMap<Wire, Map<string, Shape>>()

const noColumns: Shape = { empty: {}, names: [], parsers: [] }

/**
 * Whether a cached statement is outdated. 26000: the server does not know it. 0A000 of the plan cache: its columns have
 * changed since, as after a migration.
 */
const isOutdated = ({ code, routine }: pg.DatabaseError): boolean => code === '26000' || (code === '0A000' && routine === 'RevalidateCachedQuery')

/**
 * Whether the server ends the session: by command, shutdown or time limit. The code decides, because "FATAL" is
 * translated in other languages.
 */
export const isLeaving = ({ code = '' }: { readonly code?: string | undefined }): boolean => /^(57P0[1-5]|25P0[34])$/.test(code)

// pg calls these methods with its connection and messages; its published types lack them.
const Base = pg.Query as unknown as new (text: string) => object

/**
 * Statements that are sent to PostgreSQL in one write and answered in one, and described only when they are parsed.
 * They succeed or fail together, because PostgreSQL runs everything before a Sync as one transaction. It extends pg's
 * Query class, because a pipelining client accepts no other.
 */
export class Batch extends Base {
  readonly statements: readonly Sent[]
  done: (outcome: Outcome) => void
  private readonly client: pg.ClientBase
  private found: unknown[][]
  /** Characters reported for each statement. */
  private readonly told: number[]
  /** Shapes of the statements that the connection had parsed before. */
  private readonly kept: (Shape | undefined)[]
  private parsed = new Map<string, Shape>()
  private at = 0
  private shape: Shape
  /** Errors of statements whose rows could not be read; the rest of the answer must be consumed nevertheless. */
  private unread: Map<number, Error> | null = null

  /** @param done called once, with the results */
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

  /** Reads rows as pg does, except that a `bigint` becomes a BigInt: neither text, nor an inexact number. */
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

  /** Fails the batch: reported characters are withdrawn, because the statements that did not fail are repeated. */
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

  /** Handles an error of PostgreSQL, or of the connection. */
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
