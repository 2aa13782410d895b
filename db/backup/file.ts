import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { link, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { lineOf, StartError, systemCodeOf } from '../../start-error.ts'
import type { Book } from '../migrate.ts'

// A backup is text compressed by gzip: lines of JSON and, below a line that names a table, its rows as COPY writes
// them, up to a line `\.`. The last line contains the hash of all lines before it.

/** Version of the format. Files of a newer format are rejected. */
const format = 1

/** The first line of a backup. */
export interface Header {
  readonly supergraph: 'backup'
  readonly format: number
  /** Version of the program that wrote the backup. */
  readonly version: string
  readonly madeAt: string
  /** Migrations that created the tables. */
  readonly migrations: readonly Book[]
}

/** The line before the rows of a table. */
export interface TableLine {
  /** Name in SQL: `publishing.posts`. */
  readonly table: string
  /** All columns except generated ones. */
  readonly columns: readonly string[]
}

/** Last value of a sequence; null when it was never used. */
export interface SequenceLine {
  readonly sequence: string
  readonly last: string | null
}

/** A file of the data folder. */
export interface FileLine {
  readonly file: string
  readonly text: string
}

/** The last line of a backup. */
export interface EndLine {
  /** Number of rows in all tables. */
  readonly rows: number
  readonly sha256: string
}

/** Ends the rows of a table. No row can equal it, because COPY writes a backslash as two. */
export const endOfRows = '\\.\n'

export const headerOf = (rest: Pick<Header, 'version' | 'madeAt' | 'migrations'>): Header => ({ supergraph: 'backup', format, ...rest })

/** Writes a line other than a row. */
export const line = (content: Header | TableLine | SequenceLine | FileLine): string => `${JSON.stringify(content)}\n`

/**
 * Writes a backup, readable by its owner only (mode 0600). The name appears once the whole file is on the disk.
 * @param body all lines except the last one, in pieces of any length; returns the number of rows
 * @throws StartError when the file exists already, or cannot be written
 */
export async function writeBackup(path: string, body: AsyncGenerator<Buffer | string, number>): Promise<void> {
  const part = `${path}.part`
  if (existsSync(path)) throw new StartError(`${path} is there already: name a new file, or move that one away`)
  try {
    await rm(part, { force: true })
    await pipeline(withHash(body), createGzip(), createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true }))
    // Not `rename`, which would replace a file that another process created meanwhile.
    await link(part, path)
  } catch (error) {
    const reasons: Record<string, string> = {
      ENOENT: 'its folder is not there',
      EACCES: 'permission denied',
      EPERM: 'permission denied',
      ENOSPC: 'the disk is full',
      EROFS: 'the file system is read-only',
      EEXIST: 'it is there already',
      EISDIR: 'it is a folder',
      ENOTDIR: 'a part of the path is a file',
    }
    const reason = reasons[systemCodeOf(error)]
    throw reason ? new StartError(`${path} cannot be written (${reason})`, error) : error
  } finally {
    await rm(part, { force: true }).catch(() => {})
  }
}

async function* withHash(body: AsyncGenerator<Buffer | string, number>): AsyncGenerator<Buffer | string> {
  const hash = createHash('sha256')
  for (;;) {
    const { value, done } = await body.next()
    if (done) return void (yield `${JSON.stringify({ rows: value, sha256: hash.digest('hex') } satisfies EndLine)}\n`)
    hash.update(value)
    yield value
  }
}

/**
 * Reads a whole backup and verifies its hash.
 * @throws StartError when the file is no backup, is damaged or incomplete, or has a newer format
 */
export async function checkBackup(path: string): Promise<{ readonly header: Header; readonly end: EndLine }> {
  const hash = createHash('sha256')
  let header: Header | null = null
  let last: Buffer | null = null
  try {
    for await (const each of linesOf(path)) {
      if (last) hash.update(last)
      header ??= readHeader(path, each)
      last = each
    }
  } catch (error) {
    if (error instanceof StartError) throw error
    const why = { ENOENT: 'there is no such file', EACCES: 'permission denied', EISDIR: 'it is a folder', Z_DATA_ERROR: 'it is no backup, or damaged' }
    const said = why[systemCodeOf(error) as keyof typeof why] ?? (systemCodeOf(error) === 'Z_BUF_ERROR' ? 'it is cut short' : lineOf(error))
    throw new StartError(`${path} cannot be read (${said})`, error)
  }
  if (!header || !last) throw new StartError(`${path} is no backup of this platform: it is empty`)
  const end = parsed<Partial<EndLine>>(last)
  if (typeof end?.rows !== 'number' || end.sha256 !== hash.digest('hex'))
    throw new StartError(`${path} is damaged: its content is not what was written (its hash differs); nothing was restored`)
  return { header, end: end as EndLine }
}

function readHeader(path: string, first: Buffer): Header {
  const header = parsed<Partial<Header>>(first)
  if (header?.supergraph !== 'backup' || typeof header.format !== 'number') throw new StartError(`${path} is no backup of this platform`)
  if (header.format > format)
    throw new StartError(`${path} was written by a newer version (${header.version}) in a form that this one does not know: use that one`)
  return header as Header
}

/** Parses a line of JSON; null for an invalid one. */
export function parsed<Content>(text: Buffer): Content | null {
  try {
    return JSON.parse(text.toString()) as Content
  } catch {
    return null
  }
}

/** Yields the lines of a backup, each with its line end. */
export async function* linesOf(path: string): AsyncGenerator<Buffer, undefined> {
  const text = createGunzip()
  // The reader of the text gets the errors.
  pipeline(createReadStream(path), text).catch(() => {})
  let rest: Buffer[] = []
  for await (const chunk of text as AsyncIterable<Buffer>) {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      const end = chunk.subarray(from, at + 1)
      yield rest.length > 0 ? Buffer.concat([...rest, end]) : end
      rest = []
      from = at + 1
    }
    if (from < chunk.length) rest.push(chunk.subarray(from))
  }
  if (rest.length > 0) yield Buffer.concat(rest)
}
