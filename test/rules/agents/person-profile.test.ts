import { describe, expect, test } from 'vitest'
import { readAuthorizations, readProfile, requireMayWriteOf } from '../../../subgraphs/agents/profile/person-profile/rules.ts'
import { digestOf } from '../../../subgraphs/agents/profile/style-snapshot/take.ts'
import { organizationRoles, platformRoles } from '../../../subgraphs/identity/stores/user.ts'
import { refusalOf } from '../refusal.ts'

const fieldOf = (read: () => unknown) => refusalOf(read).extensions.field

describe('A-06 a profile of somebody else is written', () => {
  test.each([...organizationRoles, ...platformRoles])('by whoever is %s: only owners and admins', role => {
    const write = () => requireMayWriteOf('another', { userId: 'me', roles: [role] })
    if (role === 'owner' || role === 'admin') write()
    else expect(refusalOf(write).code).toBe('FORBIDDEN')
  })

  test('is refused without a role; everybody may write their own', () => {
    expect(refusalOf(() => requireMayWriteOf('another', { userId: 'me', roles: [] })).code).toBe('FORBIDDEN')
    requireMayWriteOf('me', { userId: 'me', roles: [] })
  })
})

const words = (count: number) => 'x'.repeat(count)
const nothing = { displayName: 'A voice' }

describe('a profile is read', () => {
  test('as it is given, without blanks around words, and with null and empty for what is not', () => {
    expect(readProfile({ displayName: ' A voice ', writingStyle: { tone: ' dry ', formality: '  ' } })).toEqual({
      displayName: 'A voice',
      writingStyle: { tone: 'dry', formality: null, sentenceLength: null, vocabulary: [], dos: [], donts: [], signaturePhrases: [] },
      speakingStyle: { pace: null, cadence: null, fillers: [], pronunciations: [] },
      personaRules: [],
      usagePolicies: [],
      voiceProfiles: [],
    })
    const at = new Date('2027-05-01T00:00:00.000Z')
    const given = {
      writingStyle: { tone: 'a', formality: 'b', sentenceLength: 'c', vocabulary: ['d'], dos: ['e'], donts: ['f'], signaturePhrases: ['g'] },
      speakingStyle: { pace: 'h', cadence: 'i', fillers: ['j'], pronunciations: ['k'] },
      personaRules: ['l'],
      voiceProfiles: [{ provider: 'm', externalId: 'n', label: 'o' }],
    }
    expect(readProfile({ ...nothing, ...given, usagePolicies: [{ product: 'p', purpose: 'q', allowed: false, expiresAt: at }] })).toEqual({
      ...nothing,
      ...given,
      usagePolicies: [{ product: 'p', purpose: 'q', allowed: false, expiresAt: at.toISOString() }],
    })
    expect(readAuthorizations([{ kind: 'OTHER', reference: ' r ', grantedBy: ' ', expiresAt: at }])).toEqual([
      { kind: 'OTHER', reference: 'r', grantedBy: null, expiresAt: at },
    ])
    expect(readAuthorizations(null)).toEqual([])
  })

  test('up to as many characters, entries and bytes as each part may have, and no further', () => {
    const lists = (name: string, most: number, one: unknown) => (count: number) => ({ [name]: Array(count).fill(one), most })
    const policy = { product: 'p', allowed: true }
    const voice = { provider: 'v', externalId: 'e' }
    const bounds: readonly (readonly [string, number, (count: number) => object])[] = [
      ['displayName', 200, count => ({ displayName: words(count) })],
      ...['tone', 'formality', 'sentenceLength'].map(
        name => [`writingStyle.${name}`, 500, (count: number) => ({ writingStyle: { [name]: words(count) } })] as const,
      ),
      ...['pace', 'cadence'].map(name => [`speakingStyle.${name}`, 500, (count: number) => ({ speakingStyle: { [name]: words(count) } })] as const),
      ...['vocabulary', 'dos', 'donts', 'signaturePhrases'].flatMap(name => [
        [`writingStyle.${name}`, 100, (count: number) => ({ writingStyle: { [name]: Array(count).fill('x') } })] as const,
        [`writingStyle.${name}[1]`, 500, (count: number) => ({ writingStyle: { [name]: ['x', words(count)] } })] as const,
      ]),
      ...['fillers', 'pronunciations'].map(
        name => [`speakingStyle.${name}`, 100, (count: number) => ({ speakingStyle: { [name]: Array(count).fill('x') } })] as const,
      ),
      ['speakingStyle.fillers[0]', 500, count => ({ speakingStyle: { fillers: [words(count)] } })],
      ['speakingStyle.pronunciations[0]', 500, count => ({ speakingStyle: { pronunciations: [words(count)] } })],
      ['personaRules', 100, lists('personaRules', 100, 'x')],
      ['personaRules[0]', 500, count => ({ personaRules: [words(count)] })],
      ['usagePolicies', 50, lists('usagePolicies', 50, policy)],
      ['usagePolicies[0].product', 100, count => ({ usagePolicies: [{ ...policy, product: words(count) }] })],
      ['usagePolicies[0].purpose', 200, count => ({ usagePolicies: [{ ...policy, purpose: words(count) }] })],
      ['voiceProfiles', 20, lists('voiceProfiles', 20, voice)],
      ['voiceProfiles[0].provider', 100, count => ({ voiceProfiles: [{ ...voice, provider: words(count) }] })],
      ['voiceProfiles[0].externalId', 200, count => ({ voiceProfiles: [{ ...voice, externalId: words(count) }] })],
      ['voiceProfiles[0].label', 200, count => ({ voiceProfiles: [{ ...voice, label: words(count) }] })],
    ]
    for (const [field, most, given] of bounds) {
      readProfile({ ...nothing, ...given(most) })
      expect(
        fieldOf(() => readProfile({ ...nothing, ...given(most + 1) })),
        field,
      ).toBe(field)
    }
    const evidence = { kind: 'OTHER', reference: 'r' } as const
    for (const [field, most, given] of [
      ['authorizations', 50, (count: number) => Array(count).fill(evidence)],
      ['authorizations[0].reference', 2_000, (count: number) => [{ ...evidence, reference: words(count) }]],
      ['authorizations[0].grantedBy', 200, (count: number) => [{ ...evidence, grantedBy: words(count) }]],
    ] as const) {
      readAuthorizations(given(most))
      expect(
        fieldOf(() => readAuthorizations(given(most + 1))),
        field,
      ).toBe(field)
    }
    // 65,536 bytes in all: characters of two bytes count as two.
    const rest = Buffer.byteLength(JSON.stringify(readProfile({ ...nothing, writingStyle: { dos: Array(65).fill('é'.repeat(500)) } }).writingStyle))
    const upTo = (more: number) => readProfile({ ...nothing, writingStyle: { dos: Array(65).fill('é'.repeat(500)), donts: [words(65_536 - rest - 2 + more)] } })
    upTo(0)
    expect(fieldOf(() => upTo(1))).toBe('writingStyle')
  })

  test('without words that are none', () => {
    expect(fieldOf(() => readProfile({ ...nothing, personaRules: ['a', ' '] }))).toBe('personaRules[1]')
    expect(fieldOf(() => readAuthorizations([{ kind: 'OTHER', reference: ' ' }]))).toBe('authorizations[0].reference')
    expect(fieldOf(() => readProfile({ ...nothing, personaRules: ['a\0b'] }))).toBe('personaRules[0]')
  })
})

test('a snapshot would be the same for the same style and texts, in whatever order; for any other of these it would not', () => {
  const writingStyle = { tone: 'a', formality: 'b', sentenceLength: 'c', vocabulary: ['d'], dos: ['e'], donts: ['f'], signaturePhrases: ['g'] }
  const speakingStyle = { pace: 'h', cadence: 'i', fillers: ['j'], pronunciations: ['k'] }
  const profile = { writingStyle, speakingStyle }
  const digest = digestOf(profile, ['1', '2'])
  expect(digestOf(profile, ['2', '1'])).toBe(digest)
  const another = (value: string | readonly string[]) => (typeof value === 'string' ? 'z' : ['z'])
  const others = [
    digestOf(profile, ['1']),
    digestOf(profile, ['1', '2', '2']),
    ...Object.entries(writingStyle).map(([name, value]) => digestOf({ speakingStyle, writingStyle: { ...writingStyle, [name]: another(value) } }, ['1', '2'])),
    ...Object.entries(speakingStyle).map(([name, value]) =>
      digestOf({ writingStyle, speakingStyle: { ...speakingStyle, [name]: another(value) } }, ['1', '2']),
    ),
  ]
  expect(new Set([digest, ...others]).size).toBe(1 + others.length)
})
