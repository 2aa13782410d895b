import { describe, expect, it } from 'vitest'
import { AttemptFailure } from '../../../../subgraphs/providers/ai/attempt/failure.ts'
import { readJsonAnswer } from '../../../../subgraphs/providers/ai/chat/json-answer.ts'
import { shared } from '../../../kit/shared.ts'
import { aiWorld, chatModel, type Json, readStream, secondModel } from './world.ts'

const format = { response_format: { type: 'json_object' } }
const bySchema = {
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'plan', schema: { type: 'object', additionalProperties: false, required: ['title'], properties: { title: { type: 'string' } } } },
  },
}
const pinned = { headers: { 'x-gateway-fallback': 'off' } }
const choiceOf = async (answer: Response) => ((await answer.json()) as Json).choices[0]

/** Returns what is taken of an answer that comes in pieces of so many characters. */
function taken(text: string, size: number): string {
  const answer = readJsonAnswer()
  let object = ''
  for (let at = 0; at < text.length; at += size) object += answer.take(text.slice(at, at + size))
  answer.end()
  return object
}

describe('a JSON answer', () => {
  const object = '{"a":"}{\\"\\\\","b":[{"c":[1,{}]}],"é":"“x”"}'

  it.each([
    ['alone', object],
    ['in a code fence', `\n\`\`\`json\n${object}\n\`\`\`\n`],
    ['with words around it', `Sure! Here’s the JSON: ${object} I hope it "helps".`],
  ])('is the object, however it is cut, when it comes %s', (_how, text) => {
    for (const size of [1, 2, 7, 1_000]) expect(taken(text, size)).toBe(object)
  })

  it.each([
    ['nothing', ''],
    ['words', 'The capital of Peru is Lima.'],
    ['a list of objects', '[{"a":1},{"b":2}]'],
    ['an object in a text', '"{}"'],
    ['two objects', '{"a":1} {"b":2}'],
    ['an object that does not end', '{"a":{"b":1}'],
    ['brackets that are no JSON', '{a: 1}'],
    ['brackets of two kinds mixed', '{"a":[1}]'],
    ['an object deeper than any that is read', `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`],
  ])('is refused as not_json when it is %s', (_what, text) => {
    for (const size of [1, 1_000]) expect(() => taken(text, size)).toThrow(expect.objectContaining({ name: 'AttemptFailure', failure: 'not_json' }))
  })

  it('withholds the last bracket of invalid JSON', () => {
    const answer = readJsonAnswer()
    expect(answer.take('{"a":1,')).toBe('{"a":1,')
    expect(() => answer.take('}')).toThrow(AttemptFailure)
  })
})

describe('a chat that requests JSON', () => {
  const well = shared(() => aiWorld())

  it.each([chatModel, secondModel])('is answered by %s with the requested object, in one piece and streamed', async model => {
    const world = well()
    const asked = { model, ...format }
    expect(JSON.parse((await choiceOf(await world.chat('The capital', asked, pinned))).message.content)).toEqual({ echo: 'The capital' })
    const streamed = await readStream(await world.chat('The capital', { ...asked, stream: true }, pinned))
    expect([JSON.parse(streamed.content), streamed.done]).toEqual([{ echo: 'The capital' }, true])
  })

  it('is answered with the object by the next model when the first one is unavailable', async () => {
    const world = well()
    for (const stream of [false, true]) {
      await world.arm('openai', { fault: 'status', status: 503 })
      const answer = await world.chat('Moved', { ...format, stream })
      expect(answer.headers.get('x-gateway-model')).toBe(secondModel)
      const content = stream ? (await readStream(answer)).content : (await choiceOf(answer)).message.content
      expect(JSON.parse(content)).toEqual({ echo: 'Moved' })
    }
  })

  it.each([chatModel, secondModel])('keeps tool calls beside JSON by %s', async model => {
    const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object', required: ['q'], properties: { q: { type: 'string' } } } } }]
    const asked = { model, tools, tool_choice: 'required', ...format }
    expect(await choiceOf(await well().chat('A thing', asked, pinned))).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
    const streamed = await readStream(await well().chat('A thing', { ...asked, stream: true }, pinned))
    expect([streamed.events.at(-1)!.choices[0].finish_reason, streamed.done]).toEqual(['tool_calls', true])
  })

  // The stop sequence ends the answer of the played model within its JSON.
  it.each([
    ['an object of any form', format],
    ['a schema', bySchema],
  ])('is refused with UPSTREAM_FAILED, and lets no model rest, when the answer is not JSON, for %s', async (_form, asked) => {
    const world = well()
    for (let time = 0; time < 4; time++) {
      const answer = await world.chat('Cut', { ...asked, stop: ['Cut'] }, pinned)
      expect([answer.status, await answer.json()]).toMatchObject([502, { code: 'UPSTREAM_FAILED', error: { type: 'upstream_error' } }])
      const call = await world.callOf(answer)
      expect(call.attempts).toMatchObject([{ model: chatModel, status: 200, failure: 'not_json' }])
      // The vendor charges for what it made: its input, and its output up to the stop.
      expect(Number(call.cost_micros)).toBeGreaterThan(0)
    }
    expect((await world.chat('Well', {}, pinned)).status).toBe(200)
  })

  it('ends a stream with the error event and without [DONE] when its answer stops being JSON', async () => {
    for (const model of [chatModel, secondModel]) {
      const streamed = await readStream(await well().chat('one two three', { model, ...format, stop: ['two'], stream: true }, pinned))
      expect([streamed.done, streamed.events.at(-1)]).toEqual([false, { error: expect.objectContaining({ type: 'upstream_error', code: 'not_json' }) }])
    }
  })

  it('tries the next model when the answer stops being JSON before its first byte', async () => {
    // Nothing is left of the first vendor's answer; the second one answers by a tool, which no stop sequence ends.
    for (const stream of [false, true]) {
      const answer = await well().chat('Next', { ...bySchema, stop: ['{'], stream })
      expect([answer.headers.get('x-gateway-attempts'), answer.headers.get('x-gateway-model')]).toEqual(['2', secondModel])
      const content = stream ? (await readStream(answer)).content : (await choiceOf(answer)).message.content
      expect(JSON.parse(content)).toEqual({ title: expect.stringContaining('Next') })
    }
  })

  it.each([chatModel, secondModel])('reports that the maximum cut off an answer of %s, and returns no partial object', async model => {
    for (const asked of [format, bySchema]) {
      const whole = await choiceOf(await well().chat('a b c d e f', { model, ...asked, max_completion_tokens: 2 }, pinned))
      const streamed = await readStream(await well().chat('a b c d e f', { model, ...asked, max_completion_tokens: 2, stream: true }, pinned))
      expect([whole.finish_reason, streamed.events.at(-1)!.choices[0].finish_reason]).toEqual(['length', 'length'])
      for (const content of [whole.message.content, streamed.content]) expect(() => JSON.parse(content)).toThrow(SyntaxError)
    }
  })
})
