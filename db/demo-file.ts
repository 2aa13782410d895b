import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Ids and keys of the demo, for people and checks. */
export interface DemoFacts {
  readonly organizationId: string
  readonly brandId: string
  readonly threadId: string
  /** The thread's three posts in thread order, then the others. */
  readonly postIds: readonly string[]
  /** Plain text of an API key of organization `demo` with `publishing:posts.read`. */
  readonly apiKey: string
  /**
   * The demo's merchant, its orders in order of creation, its venue, a customer with a card, payout accounts at the
   * processor, and the secret that signs the processor's events.
   */
  readonly payments: {
    readonly merchantId: string
    readonly orderIds: readonly string[]
    readonly venueId: string
    readonly customerId: string
    readonly payees: readonly string[]
    readonly webhookSecret: string | null
    /** Token with which the settlement service submits batches, and secret that signs callbacks on them. */
    readonly settlementToken: string | null
    readonly callbackSecret: string | null
  }
  /** The person profile `Demo voice`. */
  readonly personProfileId: string
  /** The sandbox's apps with a widget for organizations, and the secret that signs the processor's events about bundles. */
  readonly launcher: { readonly apps: readonly string[]; readonly webhookSecret: string | null }
  /** A token of each service, by its app id: `X-Service-Token` beside `X-App-Id`. */
  readonly serviceTokens: Readonly<Record<string, string>>
  /**
   * Tokens for the gateway to providers: one valid for every app, its successor, and one of `app_support` only; absent
   * unless all of them are set.
   */
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

/** Removes the file, once the demo is removed. */
export const removeDemoFile = (dataDir: string): void => rmSync(fileOf(dataDir), { force: true })
