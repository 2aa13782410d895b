import { countTokens as byCl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens as byO200k } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, describe, expect, it } from 'vitest'
import { encodingOf, openCounter } from '../../../../subgraphs/providers/ai/counting/counter.ts'
import { createSampler, sampleOf } from '../../../../subgraphs/providers/ai/counting/sample.ts'
import { aiWorld, chatModel } from './world.ts'

const counter = openCounter()
afterAll(() => counter.stop())
const count = (texts: readonly string[]) => counter.count('o', 'o200k_base', sampleOf(texts))

const texts = {
  English: 'Every morning she opened the shop at seven, swept the pavement and put the bread in the window, whatever the weather was.',
  German: 'Jeden Morgen öffnete sie um sieben den Laden, fegte den Gehweg und legte das Brot ins Fenster, gleich wie das Wetter war.',
  Chinese: '每天早上七点，她打开店门，打扫人行道，把面包放进橱窗，不管天气如何。',
  Japanese: '毎朝七時に彼女は店を開け、歩道を掃き、どんな天気でもパンを窓に並べた。',
  Arabic: 'كل صباح كانت تفتح المتجر في السابعة، وتكنس الرصيف وتضع الخبز في النافذة مهما كان الطقس.',
  Hindi: 'हर सुबह वह सात बजे दुकान खोलती थी, फुटपाथ साफ करती थी और मौसम कैसा भी हो, रोटी खिड़की में रखती थी।',
  code: 'export const sum = (items: readonly Item[]): bigint =>\n  items.reduce((total, { amount }) => total + BigInt(amount ?? 0), 0n)\n',
} as const

describe('counting tokens', () => {
  it.each(Object.entries(texts))('of a short text equals the vendor’s count, and of a long one is within a tenth: %s', async (_language, text) => {
    expect(await count([text])).toBe(byO200k(text))
    const long = Array.from({ length: 1_500 }, (_, at) => `${at}. ${text}`).join('\n')
    const [estimate, exact] = [await count([long]), byO200k(long)]
    expect(Math.abs(estimate - exact) / exact).toBeLessThan(0.1)
  })

  it('of a conversation in several languages is within a tenth', async () => {
    const all = Object.values(texts).flatMap(text => Array.from({ length: 60 }, () => text))
    const exact = all.reduce((sum, text) => sum + byO200k(text), 0)
    expect(Math.abs((await count(all)) - exact) / exact).toBeLessThan(0.1)
  })

  it('of a streamed answer keeps its beginning only, and is within a tenth', async () => {
    const sampler = createSampler()
    const words = Array.from({ length: 40_000 }, (_, at) => ` word${at % 97}`)
    for (const word of words) sampler.add(word)
    const { pieces, sample } = sampler.written()
    expect([pieces, sample.text.length < 20_000]).toEqual([40_000, true])
    const exact = byO200k(words.join(''))
    expect(Math.abs((await counter.count('o', 'o200k_base', sample)) - exact) / exact).toBeLessThan(0.1)
  })

  it('is by the vocabulary of the model', async () => {
    const text = texts.Hindi
    for (const [upstream, exact] of [
      ['gpt-3.5-turbo', byCl100k(text)],
      ['gpt-4-turbo', byCl100k(text)],
      ['text-embedding-3-small', byCl100k(text)],
      ['gpt-4o', byO200k(text)],
      ['gpt-4.1-mini', byO200k(text)],
      ['gpt-5-mini', byO200k(text)],
    ] as const)
      expect(await counter.count('o', encodingOf({ upstream }), sampleOf([text])), upstream).toBe(exact)
  })

  it('works for a word without an end, and for special tokens', async () => {
    expect(await count(['x'.repeat(1_000_000)])).toBeGreaterThan(50_000)
    expect(await count(['<|endoftext|>'])).toBeGreaterThan(1)
    expect(await count(['😀'.repeat(5_000)])).toBeGreaterThan(1_000)
  })

  it('falls back to the length when the caller has left', async () => {
    const stopped = openCounter()
    const waiting = stopped.count('o', 'o200k_base', sampleOf([texts.English]))
    stopped.stop()
    const byLength = Math.ceil(texts.English.length / 4)
    expect([await waiting, await stopped.count('o', 'o200k_base', sampleOf([texts.English]))]).toEqual([byLength, byLength])
  })
})

describe('counting pictures', () => {
  const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452000001e0000001e00802000000', 'hex'), Buffer.alloc(900_000, 7)])
  const content = [
    { type: 'text', text: 'What is in it?' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${picture.toString('base64')}` } },
  ]

  it('of an aborted stream uses the vendor’s rules, not their bytes', async () => {
    await using world = await aiWorld()
    await world.arm('openai', { fault: 'endless' })
    const leaving = new AbortController()
    const answer = await world.ask('chat/completions', { model: chatModel, stream: true, messages: [{ role: 'user', content }] }, { signal: leaving.signal })
    const reader = answer.body!.getReader()
    for (let piece = 0; piece < 3; piece++) await reader.read()
    leaving.abort()
    await expect.poll(async () => (await world.callOf(answer)).status).toBe('ABORTED')
    const { input_tokens: input } = await world.callOf(answer)
    // 15 × 15 patches at 1.62 tokens, four words and what stands around them.
    expect(input).toBe(365 + byO200k('What is in it?') + 6)
  })

  it('is held by the rules of its vendor, so a tight limit covers it', async () => {
    await using world = await aiWorld()
    await world.limit(1_000)
    const answer = await world.ask('chat/completions', { model: chatModel, max_completion_tokens: 20, messages: [{ role: 'user', content }] })
    expect(answer.status).toBe(200)
  })
})
