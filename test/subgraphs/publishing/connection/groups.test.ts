import { expect, test } from 'vitest'
import { tellOfGroups } from '../../../../subgraphs/publishing/connection/groups.ts'
import type { Job } from '../../../../subgraphs/publishing/context.ts'
import { keptPlaces } from '../../../../subgraphs/publishing/network/account/account.ts'
import { groupsAreOff } from '../../../../subgraphs/publishing/network/facebook/groups.ts'
import type { Network } from '../../../../subgraphs/publishing/network/network.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { supergraph } from '../../../kit/supergraph.ts'

test('stored groups are marked as accepting no posts while an operator disallows them, keep their selection, and accept posts when allowed again', async () => {
  await using graph = await supergraph()
  const { brand, owner } = await graph.seed.owner().brand()
  const place = (kind: 'PAGE' | 'GROUP', externalId: string, available = true, reason: string | null = null) => ({
    kind,
    externalId,
    name: externalId,
    accessToken: null,
    available,
    reason,
  })
  const account = { externalId: '1', name: 'Ada', places: [place('PAGE', '11'), place('GROUP', '21'), place('PAGE', '12', false, 'Not hers.')] }
  const grant = { accessToken: 'access of nobody', refreshToken: null, expiresIn: null, scopes: [] }
  const { after } = await inTransaction(graph.job, ({ now, transaction }) =>
    graph.job.connections.authorize({ brandId: brand.id, platform: 'FACEBOOK', userId: owner.userId!, account, grant, now }, transaction),
  )
  const startedWith = (closed: Network['closed']) =>
    tellOfGroups(
      Object.create(graph.job, { networks: { value: new Map([['FACEBOOK', { platform: 'FACEBOOK', ...(closed && { closed }) } as Network]]) } }) as Job,
    )
  const stored = async () =>
    (
      await graph.rows<{ targets: (typeof after)['targets']; version: number }>('select targets, version from publishing.connections where id = $1', [after.id])
    )[0]!
  await startedWith(undefined)
  expect(await stored()).toEqual({ targets: after.targets, version: 1 })
  await startedWith({ GROUP: groupsAreOff })
  await startedWith({ GROUP: groupsAreOff })
  const closed = await stored()
  expect(closed.version).toBe(2)
  expect(closed.targets.map(({ externalId, available, reason }) => [externalId, available, reason])).toEqual([
    ['11', true, null],
    ['21', false, groupsAreOff],
    ['12', false, 'Not hers.'],
  ])
  // The network, not asked for groups, lists none: they stay as they were known.
  expect(keptPlaces([place('PAGE', '11')], closed.targets).map(({ externalId }) => externalId)).toEqual(['11', '21'])
  await startedWith(undefined)
  expect((await stored()).targets).toEqual(after.targets)
})
