import { newId } from '../../../../platform/ids.ts'
import type { ConnectionRow } from '../../../../subgraphs/publishing/stores/connection.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

export interface ConnectionSeed {
  /** Whose connection it is. @default the owner's */
  readonly by?: Viewer
  /** Another account than the one that the sandbox plays: it publishes nothing. */
  readonly externalAccountId?: string
}

type Graph = Pick<Supergraph, 'clock' | 'job' | 'x'>

/** An account of X that the brand may publish with: the sandbox's when there is one. */
export async function seedConnection(
  graph: Graph,
  { brandId, owner }: { brandId: string; owner: Viewer },
  { by = owner, externalAccountId }: ConnectionSeed = {},
): Promise<ConnectionRow> {
  const { clock, job } = graph
  const { grant, account } = externalAccountId || !job.networks.has('X') ? noAccount(externalAccountId) : await sandboxAccount(graph)
  const authorized = { brandId, platform: 'X' as const, userId: by.userId!, account, grant, now: clock.now() }
  return inTransaction(job, async ({ transaction }) => (await job.connections.authorize(authorized, transaction)).after)
}

/** Tokens that open nothing, for connections that no test sends anything by. */
const noAccount = (externalId = newId()) => ({
  account: { externalId, name: '@nobody' },
  grant: { accessToken: `access of ${externalId}`, refreshToken: `refresh of ${externalId}`, expiresIn: 7200, scopes: [] },
})

async function sandboxAccount({ x }: Graph) {
  const { id, username } = x.demo.account
  const granted = await x.demo.grant(x.settings.clientId)
  return { account: { externalId: id, name: `@${username}` }, grant: { ...granted, scopes: granted.scope.split(' ') } }
}
