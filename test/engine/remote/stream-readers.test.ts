import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BodyReader, createEventReader } from '../../../router/engine/transport/streams/events.ts'
import { createPartReader } from '../../../router/engine/transport/streams/parts.ts'

/** Reads a body in pieces that begin at the given places. */
function read<Message>(body: string, cuts: readonly number[], open: (take: (message: Message) => void) => BodyReader): Message[] {
  const found: Message[] = []
  const reader = open(message => void found.push(message))
  const bytes = Buffer.from(body)
  const places = [0, ...cuts.map(cut => cut % (bytes.length + 1)).sort((one, other) => one - other), bytes.length]
  for (const [at, end] of places.slice(1).entries()) reader.read(bytes.subarray(places[at], end))
  return found
}

const cuts = fc.array(fc.nat(), { maxLength: 40 })
const json = fc.json({ noUnicodeString: false } as never).filter(text => !/[\r\n]/.test(text))

describe('server-sent events', () => {
  const events = (body: string, at: readonly number[] = [], most = 10_000) =>
    read<{ event: string; data: string }>(body, at, take => createEventReader(most, ({ event, data }) => take({ event, data })))

  test('are the same however the body is cut, with any ends of lines', () => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 5 }), cuts, fc.constantFrom('\n', '\r\n', '\r'), (texts, at, end) => {
        const body = texts.map(text => `event: next${end}data: ${text}${end}: a comment${end}${end}`).join('')
        expect(events(body, at)).toEqual(texts.map(data => ({ event: 'next', data })))
      }),
    )
  })

  test('lines of data are joined, one space before a value is left out, and what is unknown or cut off is passed over', () => {
    const body = ':hello\n\nid: 4\nretry: 10\n\ndata:{"a":\ndata: 1}\n\nevent: complete\n\ndata\n\nevent:next\ndata:  x\n\ndata: cut off'
    expect(events(body)).toEqual([
      { event: 'message', data: '{"a":\n1}' },
      { event: 'complete', data: '' },
      { event: 'message', data: '' },
      { event: 'next', data: ' x' },
    ])
  })

  test('a long line and a long event are refused, also where single bytes arrive', () => {
    expect(() => events(`data: ${'x'.repeat(200)}`, [], 100)).toThrow('more than 100 characters')
    expect(() => events('data: x\n'.repeat(20), [], 100)).toThrow('more than 100 characters')
    const long = `data: ${'x'.repeat(5_000)}\n\n`
    const every = Array.from({ length: long.length }, (_, at) => at)
    expect(events(long, every)).toEqual([{ event: 'message', data: 'x'.repeat(5_000) }])
  })
})

describe('parts', () => {
  const parts = (body: string, at: readonly number[] = [], most = 10_000) =>
    read<string | null>(body, at, take => createPartReader('-', most, part => take(part?.text ?? null)))

  test('are the same however the body is cut, with a delimiter before or behind each', () => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 5 }), cuts, fc.boolean(), (texts, at, isEarly) => {
        const part = (text: string) => `\r\ncontent-type: application/json\r\n\r\n${text}`
        const body = `${isEarly ? '\r\n---' : '---'}${texts.map(text => `${part(text)}\r\n---`).join('')}--\r\nand what comes after`
        expect(parts(body, at)).toEqual([...texts, null])
      }),
    )
  })

  test('one that is not ended is passed over, and one without headers has its empty line', () => {
    expect(parts('before the first\r\n---\r\n\r\n{}\r\n---\r\nx: y\r\n\r\n{"cut')).toEqual(['{}'])
  })

  test('a long part, long headers and a long beginning are refused', () => {
    expect(() => parts(`---\r\n\r\n${'x'.repeat(20_000)}`, [], 100)).toThrow('more than 100 bytes')
    expect(() => parts('x'.repeat(20_000))).toThrow('bytes')
    expect(() => parts('---\r\nno end of headers\r\n---\r\n')).toThrow('no end of its headers')
  })

  test('many single bytes cost no more than their number', () => {
    const text = 'x'.repeat(200_000)
    const body = `---\r\n\r\n${text}\r\n---`
    const began = performance.now()
    expect(
      parts(
        `${body}--`,
        Array.from({ length: body.length }, (_, at) => at),
        1_000_000,
      ),
    ).toEqual([text, null])
    expect(performance.now() - began).toBeLessThan(5_000)
  })
})
