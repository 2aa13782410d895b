import { expect, it } from 'vitest'
import type { CallService } from '../../../platform/ask.ts'
import { openModels } from '../../../subgraphs/agents/engines/model/models.ts'
import { roundOf } from '../../../subgraphs/agents/engines/model/offered.ts'
import { limits } from '../../../subgraphs/agents/engines/run/plan.ts'

/** What a model that streams these pieces of tool calls is heard to want. */
async function callsOf(pieces: Iterable<{ readonly index: number; readonly id?: string; readonly function?: object }>) {
  const line = (chunk: object) => Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`)
  async function* body() {
    for (const piece of pieces) yield line({ choices: [{ delta: { tool_calls: [piece] } }] })
    yield Buffer.from('data: [DONE]\n\n')
  }
  const call = { stream: async () => ({ status: 200, headers: new Headers(), body: body() }) } as unknown as CallService
  const models = openModels({ ask: null as never, call }, 'app_agents', [])
  const stream = await models.stream({ organizationId: 'ours', forUser: null, model: 'default', messages: [], timeoutMs: 1_000 })
  for await (const _ of stream.pieces);
  return stream.calls()
}

it('puts the pieces of each tool call together, whatever their order', async () => {
  const pieces = [
    { index: 0, id: 'one', function: { name: 'note', arguments: '{"te' } },
    { index: 1, id: 'two', function: { name: 'letter', arguments: '' } },
    { index: 0, function: { arguments: 'xt":"Hi"}' } },
  ]
  expect(await callsOf(pieces)).toEqual([
    { id: 'one', name: 'note', arguments: '{"text":"Hi"}' },
    { id: 'two', name: 'letter', arguments: '' },
  ])
})

it('keeps little of arguments without an end and of calls without number, and makes neither', async () => {
  function* pieces() {
    yield { index: 0, id: 'long', function: { name: 'note', arguments: '{"text":"' } }
    for (let more = 0; more < 1_000; more += 1) yield { index: 0, function: { arguments: 'x'.repeat(1_000) } }
    for (let index = 1; index < 1_000; index += 1) yield { index, id: `${index}`, function: { name: 'note', arguments: '{}' } }
  }
  const calls = await callsOf(pieces())
  expect(calls).toHaveLength(limits.tools.read)
  expect(calls[0]!.arguments.length).toBeLessThan(2 * limits.tools.argumentBytes)
  const offered = [{ name: 'note', description: null, parameters: {}, connectorId: 'a', tool: 'note', asks: false, risk: 'LOW' as const }]
  expect(roundOf('', calls, offered).calls[0]!.result).toContain('the arguments are no JSON object')
})
