import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { StartError } from '../start-error.ts'

/** Whether the command line says `--yes`. @param command how the script is called @throws StartError for anything else */
export function saysYes(command: string): boolean {
  try {
    return parseArgs({ options: { yes: { type: 'boolean', short: 'y' } } }).values.yes ?? false
  } catch (error) {
    throw new StartError(`${(error as Error).message.split('. ')[0]}: ${command} -- [--yes]`, error)
  }
}

/** Asks on the terminal. @param unasked the line of the StartError where there is none to ask on */
export async function agreed(question: string, unasked: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new StartError(unasked)
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}
