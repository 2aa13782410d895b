import { newId } from '../../../platform/ids.ts'
import type { Outbound } from '../../../platform/outbound/outbound.ts'
import { write } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { organizationOf } from '../network/account/organization.ts'
import type { Network, Platform } from '../network/network.ts'
import { healthFollows } from './health.ts'
import { readinessWith } from './integration/readiness.ts'
import { callbackUrl } from './integration/rules.ts'

/** Owner of the demo connections. */
export interface DemoConnections {
  readonly brandId: string
  readonly userId: string
  /** Origin of the sandbox. */
  readonly sandbox: string
  readonly outbound: Outbound
}

/** A network at which the demo brand could not be connected. */
export interface NotConnected {
  readonly platform: Platform
  readonly error: unknown
}

/**
 * Connects the demo brand at every network that the sandbox plays, through the network's own consent page, where it is
 * not connected: all at once, to start quickly. Networks outside the sandbox are connected by hand.
 * @returns failed connections
 */
export async function connectDemo(job: Job, demo: DemoConnections): Promise<readonly NotConnected[]> {
  const present = await job.connections.manyBy('brandId').clear(demo.brandId).load(demo.brandId)
  const missing = [...job.networks.values()].filter(
    ({ platform }) => job.applications.of(platform) && !present.some(connection => connection.platform === platform && connection.active),
  )
  const ended = await Promise.allSettled(missing.map(network => connect(job, network, demo)))
  return ended.flatMap((each, at) => (each.status === 'rejected' ? [{ platform: missing[at]!.platform, error: each.reason }] : []))
}

async function connect(job: Job, network: Network, { brandId, userId, sandbox, outbound }: DemoConnections): Promise<void> {
  const { applications, connections, publicUrl } = job
  const { platform } = network
  const state = newId()
  const redirectUri = callbackUrl(publicUrl, platform)
  const { url, verifier } = await network.authorize({ redirectUri, state })
  if (new URL(url).origin !== new URL(sandbox).origin) return
  const { headers } = await outbound(`${url}&sandbox_approve=1`)
  const parameters = new URL(headers.get('location') ?? redirectUri).searchParams
  const grant = await network.exchange({ parameters, redirectUri, state, verifier })
  const account = await network.account(grant.accessToken, await organizationOf(job, brandId, platform))
  const readiness = readinessWith(applications.of(platform)!)
  const { share, ...follows } = healthFollows(job, brandId)
  await write(job, {
    ...follows,
    async run({ now, transaction }) {
      await share(transaction)
      return connections.authorize({ brandId, platform, userId, account, grant, readiness, now }, transaction)
    },
  })
}
