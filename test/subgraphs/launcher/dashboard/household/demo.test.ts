import { expect, test } from 'vitest'
import { removeDemo } from '../../../../../db/demo-removal.ts'
import { provideDemo as providePeople } from '../../../../../subgraphs/identity/setup/demo.ts'
import { provideHousehold } from '../../../../../subgraphs/launcher/dashboard/household/demo.ts'
import { personalScopes } from '../../../../../subgraphs/scopes.ts'
import { supergraph } from '../../../../kit/supergraph.ts'
import { person, personally } from '../../../../kit/viewers.ts'

test('the demo has a household of its owner and its member, once and selected by neither, which the removal takes away', async () => {
  await using graph = await supergraph()
  const { organizationId, userId, memberId } = await providePeople(graph.platform.identity, null)
  const provide = () => provideHousehold(graph.platform.launcher.job(`user:${userId}`), { userId, memberId })
  await Promise.all([provide(), provide()])
  const [owner, member] = [
    { id: userId, role: 'owner' },
    { id: memberId, role: 'member' },
  ].map(({ id, role }) => ({ ...personally(person(id, organizationId, [role])), scopes: personalScopes }))
  const document = '{ households { name members { name role user { id } } } workspace { selectedHouseholdId } }'
  const shown = async (as: typeof owner) => (await graph.execute(document, {}, { as: as! })).data()
  for (const as of [owner, member])
    expect(await shown(as)).toMatchObject({
      workspace: { selectedHouseholdId: null },
      households: [
        {
          name: 'Demo Home',
          members: [
            { name: 'Olivia Owner', role: 'OWNER' },
            { name: 'Mia Member', role: 'ADULT' },
          ],
        },
      ],
    })
  await graph.rows('delete from launcher.household_members where user_id = $1', [memberId])
  await provide()
  expect((await shown(member)).households).toEqual([])
  await removeDemo(graph.database.sequelize)
  expect(await graph.rows('select from launcher.households')).toEqual([])
})
