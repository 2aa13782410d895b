import { expect, test } from 'vitest'
import { supergraph } from '../../../kit/supergraph.ts'
import { personally } from '../../../kit/viewers.ts'

test('A-08 the widget has its four figures in their order, and the launcher shows it to whoever may see it', async () => {
  await using graph = await supergraph()
  const { member } = await graph.seed.owner().member()
  const shown = (await graph.execute('{ agentsWidget { statistics { key value } items { id } nextAction { url } } }', {}, { as: member })).data().agentsWidget
  const figures = ['activeFlows', 'pendingTasks', 'pendingApprovals', 'runsToday'].map(key => ({ key, value: 0 }))
  expect(shown).toEqual({ statistics: figures, items: [], nextAction: null })
  const widgets = async (scopes: readonly string[]) =>
    (await graph.execute('{ widgets { app payload { statistics { key value } } } }', {}, { as: { ...member, scopes } })).data().widgets
  expect(await widgets(member.scopes)).toContainEqual({ app: 'agents', payload: { statistics: figures } })
  expect(await widgets(member.scopes.filter(scope => scope !== 'agents:workspace.read'))).not.toContainEqual(expect.objectContaining({ app: 'agents' }))
  const nowhere = { ...personally(member), scopes: member.scopes }
  expect((await graph.execute('{ agentsWidget { statistics { key } } }', {}, { as: nowhere })).refused('FORBIDDEN').message).toMatch('switch to one')
})
