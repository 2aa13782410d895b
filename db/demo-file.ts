import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What people and checks need to try the demo world: ids of this very database, and a key. */
export interface DemoFacts {
  readonly organizationId: string
  readonly brandId: string
  readonly threadId: string
  /** The thread's three in thread order, then the others. */
  readonly postIds: readonly string[]
  /** Clear text of a key of organization `demo` with `publishing:posts.read`. */
  readonly apiKey: string
  /** The demo's merchant, orders of it in order of creation, its venue and a customer with a card; accounts that the processor transfers to, and with what it signs events. */
  readonly payments: {
    readonly merchantId: string
    readonly orderIds: readonly string[]
    readonly venueId: string
    readonly customerId: string
    readonly payees: readonly string[]
    readonly webhookSecret: string | null
  }
  /** The person profile `Demo voice`. */
  readonly personProfileId: string
  /** A token of each service, by its app id: `X-Service-Token` beside `X-App-Id`. */
  readonly serviceTokens: Readonly<Record<string, string>>
  /** Tokens at the gateway to providers: of every app, the next of these, and of `app_support` alone; left out where not all of them are set. */
  readonly providers?: { readonly serviceTokens: { readonly primary: string; readonly staged: string; readonly support: string } }
  /** Origin of the sandbox. */
  readonly sandbox: string
}

const fileOf = (dataDir: string): string => join(dataDir, 'demo.json')

/** The facts of the last start; null when there was none. */
export function readDemoFile(dataDir: string): DemoFacts | null {
  try {
    return JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as DemoFacts
  } catch {
    return null
  }
}

/** Writes the facts for `npm run demo:ids`, readable by the owner alone. */
export function writeDemoFile(dataDir: string, facts: DemoFacts): void {
  writeFileSync(`${fileOf(dataDir)}.new`, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${fileOf(dataDir)}.new`, fileOf(dataDir))
}

/** Removes the facts, once what they name is gone. */
export const removeDemoFile = (dataDir: string): void => rmSync(fileOf(dataDir), { force: true })
