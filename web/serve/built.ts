import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Language } from './words.ts'

/** Where a build lies. */
export const dist = join(import.meta.dirname, '..', 'dist')

/** What a build tells of itself; names are those of files in `assets/`. */
export interface Built {
  /** Of the sources and the lock file that it was made of. */
  readonly stamp: string
  /** The one style sheet. */
  readonly style: string
  /** The script of `/login` and `/callback`. */
  readonly login: string
  /** The script of the marketing site. */
  readonly site: string
  /** The script that puts the public chat on any page. */
  readonly embed: string
  /** The script of the service worker. */
  readonly worker: string
  /** Of installed apps, by size. */
  readonly icons: Readonly<Record<192 | 512, string>>
  readonly files: readonly string[]
  /** By app and page, `publishing.posts`. */
  readonly pages: Readonly<Record<string, BuiltPage>>
}

/** What a page begins with. */
export interface BuiltPage {
  /** The script that begins. */
  readonly entry: string
  /** Every script that it imports before the page is drawn, itself included. */
  readonly chunks: readonly string[]
  /** What its frame and the page itself say, by language. */
  readonly words: Readonly<Record<Language, readonly string[]>>
}

/** Reads what the last build tells; null where nothing was built. */
export function readBuilt(): Built | null {
  try {
    return JSON.parse(readFileSync(join(dist, 'built.json'), 'utf8')) as Built
  } catch {
    return null
  }
}
