import { describe, expect, test } from 'vitest'
import { type Asked, candidatesOf, customIn, type Effective, effectiveOf, providerNameOf } from '../../../subgraphs/providers/engines/models/candidates.ts'
import type { AiModelRow, Capability } from '../../../subgraphs/providers/stores/model/model.ts'

const now = new Date('2026-06-01T00:00:00Z')
const row = (name: string, capability: Capability = 'CHAT', more: Partial<AiModelRow> = {}): AiModelRow => ({
  id: name,
  name,
  provider: name.split('/')[0]!,
  capability,
  configured: true,
  lifecycle: 'ACTIVE',
  deprecatedAt: null,
  retiresAt: null,
  replacement: null,
  contextTokens: null,
  maxOutputTokens: null,
  inputMicrosPerMillion: null,
  cacheReadMicrosPerMillion: null,
  cacheWriteMicrosPerMillion: null,
  outputMicrosPerMillion: null,
  imageMicros: null,
  imagePrices: [],
  releasedAt: null,
  minuteMicros: null,
  firstSeenAt: now,
  seenAt: null,
  version: 1,
  createdAt: now,
  updatedAt: now,
  createdBy: 'system:start',
  ...more,
})

const known = [
  row('openai/one'),
  row('anthropic/two'),
  row('openai/three'),
  row('openai/same'),
  row('google/same'),
  row('openai/gone', 'CHAT', { lifecycle: 'DEPRECATED', retiresAt: now }),
  row('openai/going', 'CHAT', { lifecycle: 'DEPRECATED', retiresAt: new Date(now.getTime() + 1) }),
  row('openai/large', 'IMAGE'),
  row('openai/small', 'IMAGE'),
  row('openai/double'),
  row('google/double', 'IMAGE'),
]

function ask(
  named: string | null,
  {
    capability = 'CHAT',
    fallback = true,
    mayOverride = false,
    chain = ['openai/one', 'anthropic/two'],
    allowed = known.map(({ name }) => name),
    preference = 'openai/one',
  }: Partial<Asked & { chain: readonly string[]; allowed: readonly string[]; preference: string | null }> = {},
): readonly string[] | string {
  const effective: Effective = { preference: preference === null ? null : { model: preference, isOwn: false }, allowed, chain: { models: chain, isOwn: false } }
  try {
    const { first, candidates } = candidatesOf({ capability, named, fallback, mayOverride }, known, effective, now)
    expect(candidates[0]).toBe(first)
    return candidates.map(({ name }) => name)
  } catch (error) {
    const { code, reason } = (error as { extensions: { code: string; reason: string } }).extensions
    return `${code} ${reason}`
  }
}

describe('selecting candidates', () => {
  test.for<[string, readonly string[] | string, readonly string[] | string]>([
    ['without a name the preference, then the rest of the chain', ask(null), ['openai/one', 'anthropic/two']],
    ['an empty name, and "default", are none', [...ask(''), ...ask('default')], ['openai/one', 'anthropic/two', 'openai/one', 'anthropic/two']],
    ['the named one, then the chain', ask('openai/three'), ['openai/three', 'openai/one', 'anthropic/two']],
    ['one of the chain once', ask('anthropic/two'), ['anthropic/two', 'openai/one']],
    ['nobody else where nobody else may', ask('openai/three', { fallback: false }), ['openai/three']],
    ['the last part is enough where one alone has it', ask('three'), ['openai/three', 'openai/one', 'anthropic/two']],
    ['and not where two have it', ask('same'), 'NOT_FOUND model_not_found'],
    ['one that may not be named does not count', ask('same', { allowed: ['openai/one', 'google/same'] }), ['google/same', 'openai/one']],
    ['and where neither may, it names none', ask('same', { allowed: ['openai/one'] }), 'NOT_FOUND model_not_found'],
    ['one that does something else does not count either', ask('double'), ['openai/double', 'openai/one', 'anthropic/two']],
    ['a name that nobody knows', ask('openai/none'), 'NOT_FOUND model_not_found'],
    ['one that does something else', ask('openai/large'), 'NOT_FOUND model_not_found'],
    ['one that is retired since this very moment', ask('openai/gone'), 'NOT_FOUND model_not_found'],
    ['one that retires in a moment answers', ask('openai/going'), ['openai/going', 'openai/one', 'anthropic/two']],
    ['chains pass over the retired', ask(null, { chain: ['openai/gone', 'anthropic/two'] }), ['openai/one', 'anthropic/two']],
    ['a retired preference is passed over too', ask(null, { preference: 'openai/gone', chain: ['openai/gone', 'anthropic/two'] }), ['anthropic/two']],
    ['without any it is said that none is set', ask(null, { preference: null, chain: [] }), 'NOT_FOUND model_not_found'],
    ['one that is not allowed', ask('openai/three', { allowed: ['openai/one'] }), 'FORBIDDEN model_not_allowed'],
    ['chains pass over what is not allowed', ask(null, { allowed: ['openai/one'] }), ['openai/one']],
    ['a custom provider is followed without being known', ask('mine/x/y'), ['mine/x/y', 'openai/one', 'anthropic/two']],
    ['images of the preference', ask('openai/small', { capability: 'IMAGE', preference: 'openai/small', chain: [] }), ['openai/small']],
    ['images of another one are for who may', ask('openai/large', { capability: 'IMAGE', preference: 'openai/small' }), 'FORBIDDEN override_not_permitted'],
    [
      'who may, names it',
      ask('openai/large', { capability: 'IMAGE', preference: 'openai/small', chain: ['openai/small'], mayOverride: true }),
      ['openai/large', 'openai/small'],
    ],
    [
      'what is not allowed is not allowed to them either',
      ask('openai/large', { capability: 'IMAGE', preference: 'openai/small', allowed: ['openai/small'], mayOverride: true }),
      'FORBIDDEN model_not_allowed',
    ],
  ])('%s', ([, found, wanted]) => expect(found).toEqual(wanted))
})

test('an ambiguous short name is rejected with the full names', () => {
  const effective: Effective = { preference: null, allowed: known.map(({ name }) => name), chain: { models: [], isOwn: false } }
  expect(() => candidatesOf({ capability: 'CHAT', named: 'same', fallback: true, mayOverride: false }, known, effective, now)).toThrow(
    'Several models are called same: give the whole name, openai/same or google/same.',
  )
})

test('an organization has its own where it has set some, each part by itself, and the platform’s elsewhere', () => {
  const platforms = {
    organizationId: null,
    capability: 'CHAT',
    preference: 'openai/one',
    allowed: ['openai/one', 'openai/three'],
    chain: ['openai/one'],
  } as const
  const own = { organizationId: 'o', capability: 'CHAT', preference: null, allowed: null, chain: ['openai/three'] } as const
  expect(effectiveOf([own, platforms], 'CHAT')).toEqual({
    preference: { model: 'openai/one', isOwn: false },
    allowed: ['openai/one', 'openai/three'],
    chain: { models: ['openai/three'], isOwn: true },
  })
  expect(effectiveOf([{ ...own, preference: 'openai/three', chain: null }, platforms], 'CHAT')).toMatchObject({
    preference: { model: 'openai/three', isOwn: true },
    chain: { isOwn: false },
  })
  expect(effectiveOf([platforms], 'IMAGE')).toEqual({ preference: null, allowed: [], chain: { models: [], isOwn: false } })
})

test('an unknown prefix before a slash is a custom provider', () => {
  expect(['mine/x', 'mine/x/y', 'openai/x', 'x', '/x', 'mine/'].map(customIn)).toEqual(['mine', 'mine', null, null, null, null])
})

test('callers see a custom provider by its own name', () => {
  expect(providerNameOf({ provider: 'custom', name: 'mine/llama/3' })).toBe('mine')
  expect(providerNameOf({ provider: 'openai', name: 'openai/one' })).toBe('openai')
})
