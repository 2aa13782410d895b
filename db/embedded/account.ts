import { spawnSync } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'

/** The user under which PostgreSQL runs, if it is not the user of this process. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

/** This number exists on every Linux. */
export const nobody: Account = { uid: 65534, gid: 65534 }

/**
 * Chooses the account for the server of a data folder; null for the user of this process.
 * PostgreSQL refuses to run as root, so for root it is the owner of the existing folder: a fixed account would make the
 * folder unusable for an ordinary user who owns it.
 * @param paths folders to check, the most significant first; missing ones are skipped
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
