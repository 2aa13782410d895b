import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import type { Demo } from '../../sandbox/network.ts'
import type { PlayedName } from '../../sandbox/networks.ts'
import type { Application, Platform } from '../../subgraphs/publishing/network/network.ts'
import { type Applications, everyNetwork, type NetworkPlaces, platforms } from '../../subgraphs/publishing/network/networks.ts'
import type { XApplication } from '../../subgraphs/publishing/network/x/oauth.ts'

/** X as the sandbox plays it: a real server on loopback with a folder of its own and the test's clock. */
export interface StandIn extends AsyncDisposable, Played {
  readonly origin: string
  readonly settings: XApplication
  /** Our applications at every network that the sandbox plays. */
  readonly applications: Applications
  /** Where they are. */
  readonly whereabouts: NetworkPlaces
  /** Another network of ours that it plays. */
  at(platform: Platform): Played
  /** Takes it off the network: connections are refused until what comes back is disposed of, which brings it back as it was. */
  away(): Promise<AsyncDisposable>
}

/** A network as the sandbox plays it. */
export interface Played {
  readonly demo: Demo
  /** What was published, oldest first. */
  published(): Promise<readonly Published[]>
  /** Arms a fault in place of the one before; without one, disarms. */
  arm(fault?: { readonly fault: string; readonly status?: number; readonly times?: number; readonly delayMs?: number }): Promise<void>
}

export interface Published {
  readonly id: string
  readonly text: string
  readonly inReplyToId?: string | null
  readonly target?: { readonly kind: string; readonly id: string }
  readonly media?: readonly { readonly mimeType: string; readonly bytes: number; readonly sha256: string }[]
}

/** With what callbacks on settlement batches are signed in tests. */
export const settlementSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** With what requests for policy decisions, and the decisions, are signed in tests. */
export const policySecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`

/** With what messages of the notification service are signed in tests. */
export const notificationSecret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`

/** @param redirectUriOf where people come back to from a network */
export async function standIn(clock: Clock, redirectUriOf: (platform: Platform) => string): Promise<StandIn> {
  const { startSandbox } = await import('../../sandbox/server.ts')
  const { applicationAt, playedNames, twinOf } = await import('../../sandbox/networks.ts')
  const folder = mkdtempSync(join(tmpdir(), 'stand-in-'))
  const start = (port: number) =>
    startSandbox({
      ...{ folder, port, clock, redirectUris: platforms.map(redirectUriOf) },
      endpoints: {
        'settlement-callbacks': { secret: settlementSecret },
        'settlement-policy': { secret: policySecret },
        notifications: { url: 'http://127.0.0.1:9/', secret: notificationSecret },
      },
    })
  let sandbox = await start(0)
  const { port } = sandbox
  const control = async <Answer>(path: string, body?: object): Promise<Answer> => {
    const answer = await fetch(`${sandbox.origin}/_control/${path}`, {
      signal: AbortSignal.timeout(10_000),
      ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`the sandbox refuses ${path}: ${await answer.text()}`)
    return (await answer.json()) as Answer
  }
  const names = new Map(
    platforms.flatMap(platform => {
      const name = playedNames.find(each => each === everyNetwork[platform].path)
      return name && everyNetwork[platform].protocol ? [[platform, name] as const] : []
    }),
  )
  const at = (platform: Platform): Played => {
    const name: PlayedName | undefined = names.get(platform)
    if (!name) throw new Error(`the sandbox plays no ${platform}`)
    const network = twinOf(name)
    return {
      get demo() {
        return sandbox.demo[name]
      },
      published: () => control(`received?network=${network}`),
      arm: async (fault = { fault: 'none' }) => void (await control('faults', { network, ...fault })),
    }
  }
  return {
    origin: sandbox.origin,
    settings: applicationAt(sandbox.origin, 'x', sandbox.demo.x),
    applications: Object.fromEntries([...names].map(([platform, name]) => [platform, applicationAt(sandbox.origin, name, sandbox.demo[name]) as Application])),
    whereabouts: Object.fromEntries(
      [...names].map(([platform, name]) => {
        const { clientId: _, clientSecret: __, ...where } = applicationAt(sandbox.origin, name, sandbox.demo[name]) as Application
        return [platform, where as Readonly<Record<string, string>>]
      }),
    ),
    at,
    get demo() {
      return sandbox.demo.x
    },
    published: at('X').published,
    arm: at('X').arm,
    async away() {
      await sandbox.stop()
      return {
        async [Symbol.asyncDispose]() {
          sandbox = await start(port)
        },
      }
    },
    async [Symbol.asyncDispose]() {
      await sandbox.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
