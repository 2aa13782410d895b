import { newId } from '../../../../platform/ids.ts'
import type { Platform } from '../../../../subgraphs/publishing/network/network.ts'
import type { ConnectionRow } from '../../../../subgraphs/publishing/stores/connection.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

export interface ConnectionSeed {
  /** Whose connection it is. @default the owner's */
  readonly by?: Viewer
  /** @default X */
  readonly platform?: Platform
  /** Another account than the one that the sandbox plays: it publishes nothing. */
  readonly externalAccountId?: string
}

type Graph = Pick<Supergraph, 'clock' | 'job' | 'x' | 'secrets'>

/** An account of a network that the brand may publish with: the sandbox's when there is one. */
export async function seedConnection(
  graph: Graph,
  { brandId, owner }: { brandId: string; owner: Viewer },
  { by = owner, platform = 'X', externalAccountId }: ConnectionSeed = {},
): Promise<ConnectionRow> {
  const { clock, job } = graph
  const { grant, account } = externalAccountId || !job.networks.has(platform) ? noAccount(externalAccountId) : await sandboxAccount(graph, platform, owner)
  graph.secrets.note(grant)
  const authorized = { brandId, platform, userId: by.userId!, account, grant, now: clock.now() }
  return inTransaction(job, async ({ transaction }) => (await job.connections.authorize(authorized, transaction)).after)
}

/** Tokens that open nothing, for connections that no test sends anything by. */
const noAccount = (externalId = newId()) => ({
  account: { externalId, name: '@nobody' },
  grant: { accessToken: `access of ${externalId}`, refreshToken: `refresh of ${externalId}`, expiresIn: 7200, scopes: [] },
})

async function sandboxAccount({ job, x }: Graph, platform: Platform, { organizationId }: Viewer) {
  const { demo } = x.at(platform)
  const { refreshToken, scope, ...granted } = await demo.grant(demo.clientId)
  const grant = { ...granted, refreshToken: refreshToken || null, scopes: scope.split(/[ ,]/) }
  // Nothing is asked of X, whose account is known: tests count what is sent.
  const known = { externalId: demo.account.id, name: `@${demo.account.username}` }
  return { account: platform === 'X' ? known : await job.networks.get(platform)!.account(grant.accessToken, organizationId), grant }
}
