import { spawnSync } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'

/** The user under whom PostgreSQL runs when that is not the user of this process. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

/** Exists by this number on every Linux. */
export const nobody: Account = { uid: 65534, gid: 65534 }

/**
 * The account for the server of a data folder; null means the user of this process.
 * PostgreSQL refuses to run as root, so root lends it the owner of what is already there: a fixed account would make the
 * folder unusable for an ordinary user who owns it.
 * @param paths the folders to look at, the most telling first; those that do not exist are passed over
 */
export function chooseAccount(paths: readonly string[]): Account | null {
  if (process.getuid?.() !== 0) return null
  for (const path of paths) {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found && found.uid !== 0) return { uid: found.uid, gid: found.gid }
  }
  return nobody
}

/** Whether the account may read this path: every folder above it counts, which only the kernel can judge. */
export function canRead(account: Account | null, path: string): boolean {
  if (account) return spawnSync('/bin/sh', ['-c', 'test -r "$0"', path], { ...account, cwd: '/', stdio: 'ignore' }).status === 0
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}
