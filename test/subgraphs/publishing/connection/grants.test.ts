import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOutbound } from '../../../../platform/outbound/outbound.ts'
import { connectDemo } from '../../../../subgraphs/publishing/connection/demo.ts'
import { renewalPace } from '../../../../subgraphs/publishing/connection/rules.ts'
import { usableToken } from '../../../../subgraphs/publishing/connection/tokens.ts'
import type { Job } from '../../../../subgraphs/publishing/context.ts'
import type { Platform } from '../../../../subgraphs/publishing/network/network.ts'
import type { ConnectionRow } from '../../../../subgraphs/publishing/stores/connection.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { anonymous, type Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

const hourMs = 3_600_000
let graph: Supergraph
let owner: Viewer
const all = new Map<Platform, ConnectionRow>()

/** What each network does with what it granted. */
const rows: readonly { readonly platform: Platform; readonly renews: 'rotating' | 'keeping' | 'lengthening' | null; readonly revokes: boolean }[] = [
  { platform: 'X', renews: 'rotating', revokes: true },
  { platform: 'LINKEDIN', renews: null, revokes: true },
  { platform: 'LINKEDIN_PAGE', renews: 'keeping', revokes: true },
  { platform: 'FACEBOOK', renews: null, revokes: true },
  { platform: 'INSTAGRAM', renews: 'lengthening', revokes: false },
  { platform: 'THREADS', renews: 'lengthening', revokes: false },
  { platform: 'TIKTOK', renews: 'rotating', revokes: true },
]

beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
  const { brand, ...story } = await graph.seed.owner().brand()
  owner = story.owner
  // By the consent page of each, for what it grants there lasts as it does for people.
  const outbound = createOutbound([graph.x.origin])
  await connectDemo(graph.job, { brandId: brand.id, userId: owner.userId!, sandbox: graph.x.origin, outbound })
  await outbound.close()
  for (const connection of await graph.job.connections.manyBy('brandId').clear(brand.id).load(brand.id)) all.set(connection.platform, connection)
  // Two of them lengthen no token that is younger than a day.
  await graph.clock.advance(25 * hourMs)
  await graph.rows(`update publishing.connections set token_expires_at = $1 where platform in ('INSTAGRAM', 'THREADS')`, [graph.clock.in(5 * 24 * hourMs)])
})
afterAll(() => graph[Symbol.asyncDispose]())

const present = ({ id }: ConnectionRow): Promise<ConnectionRow> =>
  inTransaction(graph.job, async ({ transaction }) => (await graph.job.connections.lock(id, transaction))!)
/** The same work in a process of its own, which knows of no renewal but its own, and looks often. */
const another = (): Job => Object.create(graph.job, { renewals: { value: new Map() }, pace: { value: { ...renewalPace, lookEveryMs: 20 } } }) as Job
const tokensOf = (row: ConnectionRow) => graph.job.connections.open(row)

const renew = 'mutation ($input: RenewConnectionInput!) { renewConnection(input: $input) { refreshed accessExpiresAt } }'
const end = 'mutation ($input: DisconnectConnectionInput!) { disconnectConnection(input: $input) { active } }'

test.each(rows.filter(({ renews }) => renews !== null))('P-14 $platform renews once when two processes ask, and stores $renews', async ({
  platform,
  renews,
}) => {
  const row = await present(all.get(platform)!)
  const before = tokensOf(row)
  const network = graph.job.networks.get(platform)!
  const sent = graph.sent.length
  const tokens = await Promise.all([another(), another(), another()].map(job => usableToken(job, network, row, before.accessToken)))
  const after = await present(row)
  expect(new Set(tokens)).toEqual(new Set([tokensOf(after).accessToken]))
  expect(tokens[0]).not.toBe(before.accessToken)
  expect(graph.sent.slice(sent), 'asked once').toHaveLength(1)
  const kept = tokensOf(after).refreshToken
  if (renews === 'rotating') expect(kept).not.toBe(before.refreshToken)
  else expect(kept).toBe(before.refreshToken)
  expect(after.tokenExpiresAt!.getTime()).toBeGreaterThan(row.tokenExpiresAt!.getTime())
  await network.account(tokens[0]!)
})

test.each(rows)('P-14 $platform: reports whether anything was renewed', async ({ platform, renews }) => {
  const row = await present(all.get(platform)!)
  const as: Viewer = { ...anonymous, kind: 'service', appId: 'app_publishing', organizationId: owner.organizationId, context: 'organization' }
  const told = (await graph.execute(renew, { input: { id: row.id } }, { as })).data().renewConnection
  // What was made to last longer a moment ago is not due again; what nobody renews is not asked for.
  expect(told.refreshed).toBe(renews === 'rotating' || renews === 'keeping')
})

test.each(rows)('P-11 $platform: disconnecting revokes the grant at the network, where that is possible', async ({ platform, revokes }) => {
  const row = await present(all.get(platform)!)
  const { accessToken } = tokensOf(row)
  expect((await graph.execute(end, { input: { id: row.id } }, { as: owner })).data().disconnectConnection).toEqual({ active: false })
  await Promise.all(graph.job.afterRenewals)
  const asked = graph.job.networks.get(platform)!.account(accessToken)
  if (revokes) await expect(asked).rejects.toMatchObject({ permanent: true })
  else await asked
  expect(await present(row)).toMatchObject({ accessToken: null, refreshToken: null, placeTokens: null, tokenExpiresAt: null })
})
