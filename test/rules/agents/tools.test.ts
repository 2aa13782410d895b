import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { messagesOfRounds, type OfferedTool, offeredTools, roundOf, toolsFor } from '../../../subgraphs/agents/engines/model/offered.ts'
import { limits, stepOfCall } from '../../../subgraphs/agents/engines/run/plan.ts'
import { hasOpenCalls, takeToolsOn } from '../../../subgraphs/agents/engines/tools/progress.ts'
import { type AgentToolRow, mayUse } from '../../../subgraphs/agents/stores/agent.ts'
import type { ConnectorRow, ToolRow } from '../../../subgraphs/agents/stores/connector.ts'
import type { ToolRun } from '../../../subgraphs/agents/stores/run/run.ts'
import type { RoundRow } from '../../../subgraphs/agents/stores/run/step.ts'
import { planStep } from './plans.ts'

const tool = (name: string, more: Partial<ToolRow> = {}): ToolRow => ({
  ...{ name, title: null, description: `Does ${name}.`, inputSchema: { type: 'object' }, permission: 'AUTO', risk: 'LOW', readOnly: false, idempotent: false },
  ...more,
})
const own = (connectorId: string, name: string, more: Partial<AgentToolRow> = {}): AgentToolRow => ({
  connectorId,
  name,
  permission: 'AUTO',
  risk: 'LOW',
  ...more,
})

/** What an agent is offered of connectors that have these tools. */
async function offer(tools: readonly AgentToolRow[], connectors: Readonly<Record<string, Partial<ConnectorRow>>>) {
  const load = async (id: string) => (connectors[id] ? { id, organizationId: 'ours', status: 'HEALTHY', tools: [], ...connectors[id] } : null)
  return offeredTools({ connectors: { byId: { load } } as never }, { tools, organizationId: 'ours' })
}

describe('the tools that models are offered', () => {
  it('are those that neither the agent nor the connector denies, of connectors in use', async () => {
    const offered = await offer(
      [
        ...[own('a', 'kept'), own('a', 'denied'), own('a', 'gone'), own('b', 'kept'), own('c', 'kept'), own('d', 'kept')],
        own('a', 'unwanted', { permission: 'DENY' }),
      ],
      {
        a: { tools: [tool('kept'), tool('denied', { permission: 'DENY' }), tool('unwanted')] },
        b: { tools: [tool('kept')], status: 'DISABLED' },
        c: { tools: [tool('kept')], organizationId: 'theirs' },
      },
    )
    expect(offered.map(({ connectorId, tool: name }) => [connectorId, name])).toEqual([['a', 'kept']])
  })

  it('have the stricter permission and the greater risk of both, and names of their own', async () => {
    const offered = await offer([own('a', 'files.read', { permission: 'ASK' }), own('b', 'files.read', { risk: 'MEDIUM' }), own('b', 'files_read')], {
      a: { tools: [tool('files.read', { risk: 'HIGH' })] },
      b: { tools: [tool('files.read', { permission: 'ASK' }), tool('files_read')] },
    })
    expect(offered.map(({ name, asks, risk }) => [name, asks, risk])).toEqual([
      ['files_read', true, 'HIGH'],
      ['files_read_2', true, 'MEDIUM'],
      ['files_read_3', false, 'LOW'],
    ])
    expect(offered.every(({ name }) => /^[\w-]{1,64}$/.test(name))).toBe(true)
  })

  it('may not be called any more by an agent that is not active, or has lost them', () => {
    const agent = { tools: [own('a', 'kept'), own('a', 'denied', { permission: 'DENY' as const })], status: 'ACTIVE' as const }
    expect([mayUse(agent, 'a', 'kept'), mayUse(agent, 'a', 'denied'), mayUse(agent, 'b', 'kept')]).toEqual([true, false, false])
    expect(mayUse({ ...agent, status: 'PAUSED' }, 'a', 'kept')).toBe(false)
  })

  it('may not be called after so many rounds, and are still named once an agent has none left', () => {
    const offered: OfferedTool[] = [
      { name: 'note', description: null, parameters: { type: 'object' }, connectorId: 'a', tool: 'note', asks: false, risk: 'LOW' },
    ]
    const round = roundOf('', [{ id: '1', name: 'note', arguments: '{}' }], offered)
    const rounds = Array.from({ length: limits.tools.rounds }, () => round)
    expect([toolsFor(offered, rounds.slice(1)).mayCall, toolsFor(offered, rounds).mayCall]).toEqual([true, false])
    expect(toolsFor([], [round])).toEqual({ mayCall: false, tools: [{ name: 'note', description: null, parameters: { type: 'object' } }] })
  })
})

describe('calls that a model wants', () => {
  const offered: OfferedTool[] = [
    { name: 'note', description: null, parameters: { type: 'object' }, connectorId: 'a', tool: 'write.note', asks: true, risk: 'MEDIUM' },
  ]
  const read = (name: string, given: string) => roundOf('', [{ id: '1', name, arguments: given }], offered).calls[0]!

  it('are made with their arguments, under the permission of their tool', () => {
    expect(read('note', '{"text":"a\\u0000b"}')).toEqual({
      ...{ id: '1', name: 'note', connectorId: 'a', tool: 'write.note', asks: true, risk: 'MEDIUM' },
      ...{ arguments: { text: 'ab' }, result: null },
    })
    expect(read('note', '').arguments).toEqual({})
  })

  it.each([
    ['a tool that was not offered', 'purge', '{}'],
    ['no JSON', 'note', '{"text":'],
    ['a list', 'note', '[]'],
    ['arguments that are too long', 'note', JSON.stringify({ text: 'x'.repeat(limits.tools.argumentBytes) })],
  ])('are not made for %s, which the model is told', (_, name, given) => {
    expect(read(name, given).result).not.toBeNull()
  })

  it('are the one step of a run, with the patience and the agent of the step that asks, and a gate where a person is asked', () => {
    const think = planStep('MODEL', 'think', { agentId: 'ada', title: 'Thinks', timeoutSeconds: 7, retries: 4 })
    const wanted = { id: '1', name: 'note', connectorId: 'a', tool: 'write.note', result: null }
    const step = stepOfCall(think, { ...wanted, asks: true, risk: 'HIGH' })
    expect(step).toMatchObject({
      ...{ kind: 'TOOL', key: 'action', agentId: 'ada', connectorId: 'a', tool: 'write.note', counterparty: null, purpose: 'Thinks' },
      ...{ timeoutSeconds: 7, retries: 4, next: null, otherwise: null, arguments: '{{input}}', gate: { risk: 'HIGH', allowed: ['APPROVE', 'REJECT'] } },
    })
    expect(stepOfCall(think, { ...wanted, asks: false, risk: 'HIGH' }).gate).toBeNull()
  })

  it('are made so many at once, and the others are not', () => {
    const asked = Array.from({ length: limits.tools.atOnce + 2 }, (_, at) => ({ id: String(at), name: 'note', arguments: '{}' }))
    const { calls } = roundOf('', asked, offered)
    expect(calls.map(({ result }) => result === null)).toEqual([...Array(limits.tools.atOnce).fill(true), false, false])
  })
})

describe('a round of calls', () => {
  const call = (id: string, result: string | null = null) => ({
    ...{ id, name: 'note', connectorId: 'a', tool: 'note', arguments: { id }, asks: false, risk: 'LOW' as const },
    result,
  })
  const run = (itemIndex: number, more: Partial<ToolRun> = {}): ToolRun => ({
    ...{ itemIndex, status: 'SUCCEEDED', output: { at: itemIndex }, failureCode: null, failureMessage: null, stepStatus: null },
    ...more,
  })
  const before: RoundRow = { text: 'First.', calls: [call('one', 'done')] }

  it('is open while a call of the last one has no result', () => {
    const open = { text: '', calls: [call('two', 'done'), call('three')] }
    expect([null, [], [before], [open], [before, open], [open, before]].map(hasOpenCalls)).toEqual([false, false, false, true, true, false])
  })

  it('tells the model no more of an output than it may be told', () => {
    const taken = takeToolsOn([{ text: '', calls: [call('one')] }], [run(0, { output: 'x'.repeat(20_000) })])
    expect('rounds' in taken && taken.rounds[0]!.calls[0]!.result).toBe('x'.repeat(16_384))
  })

  it('begins the calls that have no run, at their place among all calls', () => {
    const rounds = [before, { text: '', calls: [call('two'), call('three', 'There is no tool.'), call('four')] }]
    const taken = takeToolsOn(rounds, [run(1, { status: 'RUNNING' })])
    expect('begin' in taken && taken.begin.map(({ index, call: { id } }) => [index, id])).toEqual([[3, 'four']])
  })

  it('tells the model what came of each, once all have ended, and never of one whose outcome is unknown', () => {
    const rounds = [before, { text: '', calls: [call('two'), call('three'), call('four')] }]
    const failed = run(2, { status: 'FAILED', failureCode: 'APPROVAL_REJECTED', failureMessage: 'No.' })
    expect(takeToolsOn(rounds, [run(1), failed, run(3, { status: 'WAITING_APPROVAL' })])).toEqual({ begin: [] })
    const told = takeToolsOn(rounds, [run(1), failed, run(3, { status: 'CANCELLED' })])
    expect('rounds' in told && told.rounds[1]!.calls.map(({ result }) => result)).toEqual([
      '{"at":1}',
      'The call failed (APPROVAL_REJECTED): No.',
      'The call was cancelled.',
    ])
    expect('rounds' in told && messagesOfRounds(told.rounds)).toMatchObject([
      { role: 'ASSISTANT', content: 'First.', toolCalls: [{ id: 'one', name: 'note', arguments: '{"id":"one"}' }] },
      { role: 'TOOL', content: 'done', toolCallId: 'one' },
      { role: 'ASSISTANT', content: '', toolCalls: [{ id: 'two' }, { id: 'three' }, { id: 'four' }] },
      ...['two', 'three', 'four'].map(toolCallId => ({ role: 'TOOL', toolCallId })),
    ])
    expect(takeToolsOn(rounds, [run(1), run(2, { status: 'FAILED', stepStatus: 'UNKNOWN' }), run(3)])).toMatchObject({ unclear: { id: 'three' } })
  })

  it('waits for a call that outlives its cancelled run, and tells what came of it', () => {
    const rounds = [before, { text: '', calls: [call('two')] }]
    const results = (more: Partial<ToolRun>) => {
      const taken = takeToolsOn(rounds, [run(1, more)])
      return 'rounds' in taken ? taken.rounds[1]!.calls.map(({ result }) => result) : taken
    }
    expect(results({ status: 'CANCELLED', stepStatus: 'RUNNING', output: null })).toEqual({ begin: [] })
    expect(results({ status: 'CANCELLED', stepStatus: 'UNKNOWN', output: null })).toMatchObject({ unclear: { id: 'two' } })
    expect(results({ status: 'CANCELLED', stepStatus: 'SUCCEEDED', output: { done: true } })).toEqual(['{"done":true}'])
    expect(results({ status: 'CANCELLED', stepStatus: 'CANCELLED', output: null })).toEqual(['The call was cancelled.'])
    const checked = { failureCode: 'OUTCOME_UNKNOWN', failureMessage: 'A person found that it did not happen.' } as const
    expect(results({ status: 'FAILED', stepStatus: 'FAILED', output: null, ...checked })).toEqual(['The call has not happened: a person has checked.'])
  })

  it('begins each call once, and ends, whatever the order in which runs end', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }), fc.infiniteStream(fc.nat(7)), (refused, order) => {
        const rounds = [before, { text: '', calls: refused.map((is, at) => call(String(at), is ? 'no' : null)) }]
        const runs: ToolRun[] = []
        const begun: number[] = []
        for (let look = 0; look < 200; look += 1) {
          const taken = takeToolsOn(rounds, runs)
          if ('rounds' in taken) {
            expect(begun.sort()).toEqual(refused.flatMap((is, at) => (is ? [] : [at + 1])))
            return taken.rounds[1]!.calls.every(({ result }) => result !== null)
          }
          if (!('begin' in taken)) return false
          for (const { index } of taken.begin) {
            begun.push(index)
            runs.push(run(index, { status: 'RUNNING' }))
          }
          const at = order.next().value! % Math.max(1, runs.length)
          if (runs[at]) runs[at] = run(runs[at].itemIndex)
        }
        return false
      }),
    )
  })
})
