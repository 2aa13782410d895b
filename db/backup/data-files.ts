import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StartError } from '../../start-error.ts'
import type { FileLine } from './file.ts'

/** Files of the data folder that a database cannot do without. */
export const dataFiles = {
  /** The generated keys: without them sessions end, and stored tokens cannot be read. */
  keys: 'keys.json',
  /** The demo's ids, and its API key in clear. */
  demo: 'demo.json',
  /** The sandbox's state: the accounts to which the demo's connections refer. */
  sandbox: 'sandbox/state.ndjson',
} as const

export type DataFile = (typeof dataFiles)[keyof typeof dataFiles]

/** Reads the named files that exist. */
export const readDataFiles = (dataDir: string, names: readonly DataFile[]): FileLine[] =>
  names.filter(name => existsSync(join(dataDir, name))).map(file => ({ file, text: readFileSync(join(dataDir, file), 'utf8') }))

/**
 * Writes a file of a backup into the data folder, completely or not at all, readable by its owner only.
 * @throws StartError when another file exists there, or the file does not belong to a backup
 */
export function writeDataFile(dataDir: string, { file, text }: FileLine): void {
  if (!Object.values<string>(dataFiles).includes(file)) throw new StartError(`the backup holds a file that has no place here: ${file}`)
  const path = join(dataDir, file)
  if (existsSync(path)) {
    if (readFileSync(path, 'utf8') === text) return
    throw new StartError(`${path} is there already, of another platform: set DATA_DIR to an empty folder`)
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true })
  renameSync(`${path}.new`, path)
}
