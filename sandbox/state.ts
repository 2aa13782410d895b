import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Values by key, oldest first. A value is JSON-safe and is replaced, never changed in place. */
export interface Collection<T> {
  get(key: string): T | undefined
  /** Keeps a value; writing a key again moves it to the young end. Past the collection's bound the oldest is forgotten. */
  set(key: string, value: T): void
  delete(key: string): void
  values(): MapIterator<T>
  readonly size: number
}

/** What the stand-ins remember, kept in one append-only file so that a killed process forgets nothing it has answered for. */
export interface State {
  /**
   * The collection of that name; ask for each name once.
   * @param limit how many values it holds at most
   */
  collection<T>(name: string, limit: number): Collection<T>
  /** Writes everything changed since the last commit as one line: all of it survives, or none. Called before an answer leaves. */
  commit(): void
  close(): void
}

type Change = readonly [collection: string, key: string, value: unknown]

const fileName = 'state.ndjson'
const compactionFloor = 1_000_000 // bytes

/**
 * Opens the state in a folder, which is created (mode 0700) when absent, and rewrites its file to what is still true. A last
 * line that was cut by a kill is dropped: its call was never answered.
 *
 * The bytes are in the kernel's hands after each commit, so they outlive this process; they are not forced to the disk.
 */
export function openState(folder: string): State {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, fileName)
  const stored = readChanges(file)
  const maps = new Map<string, Map<string, unknown>>()
  const mapOf = (name: string): Map<string, unknown> => {
    const known = maps.get(name)
    if (known) return known
    const fresh = new Map<string, unknown>()
    maps.set(name, fresh)
    return fresh
  }
  for (const change of stored) apply(mapOf(change[0]), change)

  let pending: Change[] = []
  let descriptor = openSync(file, 'a', 0o600)
  let appended = 0
  let allowance = compactionFloor

  const compact = (): void => {
    const lines: string[] = []
    for (const [name, map] of maps) for (const [key, value] of map) lines.push(JSON.stringify([[name, key, value]]))
    const content = lines.length === 0 ? '' : `${lines.join('\n')}\n`
    writeFileSync(`${file}.next`, content, { mode: 0o600 })
    closeSync(descriptor)
    renameSync(`${file}.next`, file)
    descriptor = openSync(file, 'a', 0o600)
    appended = 0
    allowance = Math.max(compactionFloor, content.length)
  }
  compact()

  return {
    collection<T>(name: string, limit: number): Collection<T> {
      const map = mapOf(name) as Map<string, T>
      const write = (change: Change): void => {
        apply(map, change)
        pending.push(change)
      }
      return {
        get: key => map.get(key),
        set(key, value) {
          write([name, key, value])
          if (map.size > limit) write([name, map.keys().next().value!, null])
        },
        delete(key) {
          if (map.has(key)) write([name, key, null])
        },
        values: () => map.values(),
        get size() {
          return map.size
        },
      }
    },
    commit() {
      if (pending.length === 0) return
      const line = Buffer.from(`${JSON.stringify(pending)}\n`)
      pending = []
      writeSync(descriptor, line)
      appended += line.length
      if (appended > allowance) compact()
    },
    close: () => closeSync(descriptor),
  }
}

function apply<T>(map: Map<string, T>, [, key, value]: Change): void {
  map.delete(key)
  if (value !== null) map.set(key, value as T)
}

function readChanges(file: string): Change[] {
  if (!existsSync(file)) return []
  const content = readFileSync(file)
  const whole = content.subarray(0, content.lastIndexOf('\n') + 1)
  return whole
    .toString('utf8')
    .split('\n')
    .filter(line => line !== '')
    .flatMap(line => JSON.parse(line) as Change[])
}
