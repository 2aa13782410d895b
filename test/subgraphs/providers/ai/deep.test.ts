import { describe, expect, test } from 'vitest'
import { isUnwieldy } from '../../../../subgraphs/http/depth.ts'
import { aiWorld, chatModel, secondModel } from './world.ts'

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const messages = '"messages":[{"role":"user","content":"Hello"}]'
const tools = (levels: number) => `{"model":"${secondModel}",${messages},"tools":[{"type":"function","function":{"name":"a","parameters":${nested(levels)}}}]}`

describe('JSON that nests without end', () => {
  test('is rejected before it is parsed, at any place, and nothing is reserved', async () => {
    await using world = await aiWorld()
    await world.limit(1_000_000)
    const bodies = [tools(100_000), '['.repeat(1_000_000), `{"model":"${chatModel}",${messages},"logit_bias":${nested(200)}}`]
    bodies.push(`{"model":"${chatModel}",${messages},"logit_bias":{${Array.from({ length: 700_000 }, (_, at) => `"${at}":1`).join()}}}`)
    for (const path of ['chat/completions', 'embeddings', 'images'])
      for (const body of bodies) {
        const answer = await world.ask(path, body)
        expect([answer.status, (await answer.json()).detail]).toEqual([400, expect.stringContaining('deeper than 100 levels')])
      }
    expect(await world.received('anthropic')).toEqual([])
    expect(await world.spent()).toEqual({ spent: 0, reserved: 0 })
    expect((await world.ask('chat/completions', tools(50))).status).toBe(200)
  })

  test('in the arguments of a call, which are text, is handed over as the text that it is', async () => {
    await using world = await aiWorld()
    const call = { id: 'one', type: 'function', function: { name: 'a', arguments: nested(100_000) } }
    const said = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'one', content: 'Done' },
      { role: 'user', content: 'And now?' },
    ]
    expect((await world.chat('', { model: secondModel, messages: said })).status).toBe(200)
  })

  test.each([
    ['[]', false],
    ['['.repeat(100) + ']'.repeat(100), false],
    ['['.repeat(101), true],
    [JSON.stringify('['.repeat(500)), false],
    [JSON.stringify(`${'"['.repeat(500)}\\`), false],
    [`["\\\\",${'['.repeat(100)}`, true],
    ['[],'.repeat(500), false],
    [`"${'['.repeat(500)}`, false],
    [`{${'"a":1,'.repeat(199_999)}`, false],
    [`{${'"a":1,'.repeat(200_000)}`, true],
    [`[${'{},'.repeat(200_000)}`, true],
    [`[${'[],'.repeat(200_000)}`, true],
    [`[${'1,'.repeat(1_000_000)}`, false],
    [JSON.stringify(':{['.repeat(200_001)), false],
  ])('is told from texts with brackets, and from long lists: %.40j', (json, isDeep) => expect(isUnwieldy(Buffer.from(json))).toBe(isDeep))
})
