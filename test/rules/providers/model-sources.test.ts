import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { capabilityOf, microsIn, readCatalogue, readProviderList } from '../../../subgraphs/providers/model/sync/read.ts'

describe('a provider’s model list', () => {
  test('merges snapshots into their model; unsupported models are left out', () => {
    const ids = [
      'gpt-5-mini-2025-08-07',
      'gpt-5-mini',
      'claude-haiku-4-5-20251001',
      'whisper-1',
      'gpt-image-1',
      'text-embedding-3-small',
      'tts-1',
      'omni-moderation-latest',
      'models/gemini-2.5-flash',
    ]
    expect(readProviderList('some', { data: ids.map(id => ({ id })) })).toEqual([
      { name: 'some/gpt-5-mini', capability: 'CHAT' },
      { name: 'some/claude-haiku-4-5', capability: 'CHAT' },
      { name: 'some/whisper-1', capability: 'TRANSCRIPTION' },
      { name: 'some/gpt-image-1', capability: 'IMAGE' },
      { name: 'some/text-embedding-3-small', capability: 'EMBEDDING' },
      { name: 'some/gemini-2.5-flash', capability: 'CHAT' },
    ])
  })

  test.for([null, [], 'models', {}, { data: {} }, { data: 'x' }])('%o is no list', answer =>
    expect(() => readProviderList('openai', answer)).toThrow(/no list of models/))

  test('is read within limits and with the provider’s names, whatever it contains', () =>
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.record({ id: fc.string() }), fc.anything()), { maxLength: 50 }), data =>
        readProviderList('openai', { data }).every(({ name }) => name.startsWith('openai/') && name.length <= 200),
      ),
    ))

  test('a list of a hundred thousand is cut', () =>
    expect(readProviderList('openai', { data: Array.from({ length: 100_000 }, (_, at) => ({ id: `gpt-${at}` })) }).length).toBe(2_000))
})

describe('the open model catalogue', () => {
  const catalogue = (model: object, provider = 'openai') => readCatalogue({ [provider]: { models: { one: { id: 'gpt-one', ...model } } } })[0]

  test('prices, limits and ends', () => {
    expect(catalogue({ cost: { input: 0.25, output: 2, cache_read: 0.025, cache_write: 0.3125 }, limit: { context: 400_000, output: 128_000 } })).toEqual({
      name: 'openai/gpt-one',
      capability: 'CHAT',
      contextTokens: 400_000,
      maxOutputTokens: 128_000,
      inputMicrosPerMillion: '250000',
      cacheReadMicrosPerMillion: '25000',
      cacheWriteMicrosPerMillion: '312500',
      outputMicrosPerMillion: '2000000',
    })
    expect(catalogue({ retirement_date: '2030-06-30', replacement: 'gpt-two' })).toMatchObject({
      lifecycle: 'DEPRECATED',
      deprecatedAt: null,
      retiresAt: '2030-06-30T00:00:00.000Z',
      replacement: 'openai/gpt-two',
    })
    expect(catalogue({ status: 'deprecated' })).toMatchObject({ lifecycle: 'DEPRECATED', retiresAt: null })
    expect(catalogue({ status: 'beta' })?.lifecycle).toBeUndefined()
  })

  test('ignores values that are no number, date or price', () => {
    const odd = { cost: { input: '0.25', output: -1 }, limit: { context: 1.5, output: 1e12 }, retirement_date: 'soon', deprecation_date: '2030-13-45' }
    expect(catalogue(odd)).toMatchObject({ contextTokens: null, maxOutputTokens: null, inputMicrosPerMillion: null, outputMicrosPerMillion: null })
    expect(catalogue(odd)?.lifecycle).toBeUndefined()
  })

  test.for([null, [], {}, { elsewhere: { models: { a: { id: 'gpt-1' } } } }, { openai: { models: [] } }, { openai: 5 }])('%o is none', answer =>
    expect(() => readCatalogue(answer)).toThrow())

  test('is read without errors, whatever it contains', () =>
    fc.assert(
      fc.property(fc.anything(), odd => {
        const found = readCatalogue({ openai: { models: { odd, good: { id: 'gpt-good' } } } })
        return found.some(({ name }) => name === 'openai/gpt-good')
      }),
    ))
})

test('dollars become whole micro-dollars, rounded up exactly', () => {
  expect([0.25, 0.1, 0.3, 1.1, 0.075, 0, 0.0000001, 10_000].map(microsIn)).toEqual(['250000', '100000', '300000', '1100000', '75000', '0', '1', '10000000000'])
  expect([10_001, -1, Number.NaN, Number.POSITIVE_INFINITY, '1', null, undefined].map(microsIn)).toEqual(Array(7).fill(null))
  fc.assert(fc.property(fc.integer({ min: 0, max: 10_000_000_000 }), micros => microsIn(micros / 1_000_000) === String(micros)))
})

test('names determine a model’s capability', () => {
  const found = Object.fromEntries(
    ['gpt-5', 'o3', 'gpt-4o-transcribe', 'dall-e-3', 'gpt-4o-audio-preview', 'text-moderation-latest', 'sora-2', 'gemini-embedding-001'].map(id => [
      id,
      capabilityOf(id),
    ]),
  )
  expect(found).toEqual({
    'gpt-5': 'CHAT',
    o3: 'CHAT',
    'gpt-4o-transcribe': 'TRANSCRIPTION',
    'dall-e-3': 'IMAGE',
    'gpt-4o-audio-preview': null,
    'text-moderation-latest': null,
    'sora-2': null,
    'gemini-embedding-001': 'EMBEDDING',
  })
})
