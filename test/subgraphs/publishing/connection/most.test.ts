import { expect, test } from 'vitest'

import { mostConnections } from '../../../../subgraphs/publishing/stores/connection.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { supergraph } from '../../../kit/supergraph.ts'

test('limits the connections of a brand, however many are made at once; an existing one can be authorized again', async () => {
  await using graph = await supergraph()
  const { owner, brand } = await graph.seed.owner().brand()
  await graph.rows(
    `insert into publishing.connections (brand_id, id, platform, author_id, external_account_id, account_name, access_token, connected_at, created_at, updated_at, created_by)
     select $1, gen_random_uuid(), 'X', $2, 'account-' || n, '@account', 'sealed', $3, $3, $3, 'user:nobody' from generate_series(1, $4::int) n`,
    [brand.id, owner.userId, graph.clock.now(), mostConnections - 1],
  )
  const grant = { accessToken: 'access', refreshToken: null, expiresIn: null, scopes: [] }
  const authorize = (externalId: string) =>
    inTransaction(graph.job, ({ transaction }) =>
      graph.job.connections.authorize(
        { brandId: brand.id, platform: 'X', userId: owner.userId!, account: { externalId, name: '@account' }, grant, now: graph.clock.now() },
        transaction,
      ),
    )
  const ended = await Promise.allSettled(['new-1', 'new-2', 'new-3'].map(authorize))
  expect(ended.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
  const refusal = ended.find(each => each.status === 'rejected')!.reason
  expect(refusal).toMatchObject({ extensions: { code: 'CONFLICT', reason: 'QUOTA' }, message: expect.stringContaining(String(mostConnections)) })
  await authorize('account-7')
  expect(await graph.rows('select 1 from publishing.connections where brand_id = $1', [brand.id])).toHaveLength(mostConnections)
})
