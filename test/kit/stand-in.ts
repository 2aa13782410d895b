import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import type { Demo } from '../../sandbox/network.ts'
import type { XApplication } from '../../subgraphs/publishing/network/x/oauth.ts'

/** X as the sandbox plays it: a real server on loopback with a folder of its own and the test's clock. */
export interface StandIn extends AsyncDisposable {
  readonly origin: string
  readonly settings: XApplication
  readonly demo: Demo
  /** What was published, oldest first. */
  published(): Promise<readonly { readonly id: string; readonly text: string; readonly inReplyToId?: string | null }[]>
  /** Takes it off the network: connections are refused until what comes back is disposed of, which brings it back as it was. */
  away(): Promise<AsyncDisposable>
  /** Arms a fault in place of the one before; without one, disarms. */
  arm(fault?: { readonly fault: string; readonly status?: number; readonly times?: number; readonly delayMs?: number }): Promise<void>
}

export async function standIn(clock: Clock, redirectUri: string): Promise<StandIn> {
  const { startSandbox } = await import('../../sandbox/server.ts')
  const { applicationAt } = await import('../../sandbox/networks.ts')
  const folder = mkdtempSync(join(tmpdir(), 'stand-in-'))
  const start = (port: number) => startSandbox({ folder, port, clock, redirectUris: [redirectUri] })
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
  return {
    origin: sandbox.origin,
    settings: applicationAt(sandbox.origin, 'x', sandbox.demo.x),
    get demo() {
      return sandbox.demo.x
    },
    published: () => control('received?network=x'),
    async away() {
      await sandbox.stop()
      return {
        async [Symbol.asyncDispose]() {
          sandbox = await start(port)
        },
      }
    },
    arm: async (fault = { fault: 'none' }) => void (await control('faults', { network: 'x', ...fault })),
    async [Symbol.asyncDispose]() {
      await sandbox.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
