import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StartError } from '../../../start-error.ts'
import type { Identity } from '../../../subgraphs/identity/nouns/identity.ts'
import type { Reporter } from './reporter.ts'

/**
 * Returns the file of the data folder that holds the set-up link. It is never logged: whoever has the link can create
 * the first administrator.
 */
export const setupLinkFile = (dataDir: string): string => join(dataDir, 'setup-link')

/** Destinations of the link. */
export interface SetupDelivery {
  readonly dataDir: string
  readonly publicUrl: string
  readonly reporter: Pick<Reporter, 'say' | 'warn'>
  /**
   * Writes to an interactive terminal; null when standard output is none. @default standard output, if it is a terminal
   */
  readonly terminal?: ((text: string) => void) | null
}

const ownTerminal = (): ((text: string) => void) | null => (process.stdout.isTTY ? text => void process.stdout.write(text) : null)

/**
 * Creates a new set-up link while nobody has signed in, and writes it to a file that only this process's user can read,
 * and to a terminal. Once somebody has signed in it removes the file. The former link stays valid when the new one
 * cannot be delivered.
 * @returns a sentence about where the link is; undefined when there is no link
 */
export async function deliverSetupLink(
  identity: Pick<Identity, 'openSetup'>,
  { dataDir, publicUrl, reporter, terminal = ownTerminal() }: SetupDelivery,
): Promise<(() => void) | undefined> {
  const file = setupLinkFile(dataDir)
  const problems: string[] = []
  const deliver = (path: string) => {
    const problem = write(file, `${publicUrl}${path}\n`)
    if (problem !== null) {
      problems.push(problem)
      if (terminal === null) throw new StartError(problem)
    }
    terminal?.(`nobody has signed in yet: make the first account here, within a day:\n  ${publicUrl}${path}\n`)
  }
  const link = await identity.openSetup(deliver).catch(error => {
    if (problems.length === 0) throw error
    return undefined
  })
  for (const problem of problems) reporter.warn(problem)
  if (link === null) remove(file)
  if (link === null || problems.length > 0) return undefined
  return () => reporter.say(`nobody has signed in yet: the link that makes the first account is in ${file}, good for a day`, { file })
}

/** Writes a new file with mode 0600, replacing whatever was there. @returns what to do when that fails */
function write(file: string, text: string): string | null {
  const fresh = `${file}.new`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    rmSync(fresh, { force: true })
    // A symbolic link at this path would write the secret elsewhere.
    writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' })
    renameSync(fresh, file)
    return null
  } catch (error) {
    const { code = 'it is damaged' } = error as NodeJS.ErrnoException
    return `the link that makes the first account cannot be written to ${file} (${code}): let DATA_DIR name a folder that this process may write to, and start again`
  }
}

/** Removes a file with an invalid link. */
function remove(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // A partial file cannot be used to set the platform up.
  }
}
