import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { shared } from '../../../kit/shared.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { key, person, personally } from '../../../kit/viewers.ts'
import {
  createPersonProfile,
  createProfileSource,
  createStyleSnapshot,
  personProfile,
  personProfiles,
  profileSource,
  styleSnapshot,
  wholeProfile,
} from '../documents.ts'
import { seedProfile } from './seed.ts'

const make = async (graph: Supergraph, as: Viewer, input: object = {}) =>
  (await graph.execute(createPersonProfile, { input: { displayName: 'A voice', ...input } }, { as })).data().createPersonProfile
const list = async (graph: Supergraph, as: Viewer, variables: object = {}) =>
  (await graph.execute(personProfiles, { ...variables }, { as })).data().personProfiles
const admin = ({ userId, organizationId }: Viewer) => person(userId!, organizationId!, ['admin'])

const carried = {
  status: 'ACTIVE',
  writingStyle: {
    tone: 'dry',
    formality: 'low',
    sentenceLength: 'short',
    vocabulary: ['ship'],
    dos: ['name it'],
    donts: ['exclaim'],
    signaturePhrases: ['so'],
  },
  speakingStyle: { pace: 'slow', cadence: 'falling', fillers: ['well'], pronunciations: ['SQL as sequel'] },
  personaRules: ['Never promises a date.'],
  usagePolicies: [{ product: 'publishing', purpose: 'drafts', allowed: true, expiresAt: '2027-05-01T00:00:00.000Z' }],
  voiceProfiles: [{ provider: 'voices', externalId: 'voice-1', label: null }],
}

/** What job runners and facts do beside is not asked by anybody. */
const isAsked = (text: string): boolean => !/_jobs\.|\.facts\b|\.inbox\b/.test(text)

describe('A-05 a person profile is written', () => {
  test('with everything that it carries, about a member of the organization, and it is on record', async () => {
    await using graph = await supergraph()
    const { owner, member, organization } = await graph.seed.owner().member()
    const authorizations = [{ kind: 'CONSENT', reference: 'contract 17', grantedBy: 'M.', expiresAt: '2028-01-01T00:00:00.000Z' }]
    const made = await make(graph, owner, { subjectId: member.userId, ...carried, authorizations })
    expect(made).toMatchObject({
      ...carried,
      displayName: 'A voice',
      subject: { id: member.userId },
      organization: { id: organization.id, name: organization.name },
      authorizations: [{ ...authorizations[0], grantedAt: graph.clock.now().toISOString(), revokedAt: null }],
      activeSnapshot: null,
      version: 1,
    })
    for (const as of [owner, member]) expect((await graph.execute(personProfile, { id: made.id }, { as })).data().personProfile).toEqual(made)
    expect(await graph.rows('select tenant_id, actor, action, subject_id from agents.audit_entries')).toEqual([
      { tenant_id: organization.id, actor: `user:${owner.userId}`, action: 'person-profile.created', subject_id: made.id },
    ])
  })

  test('as a draft about oneself, of whom nothing is known yet, by whoever belongs to the organization', async () => {
    await using graph = await supergraph()
    const { member, viewer } = await graph.seed.owner().member().viewer()
    for (const as of [member, viewer])
      expect(await make(graph, as)).toMatchObject({
        status: 'DRAFT',
        subject: { id: as.userId },
        writingStyle: { tone: null, vocabulary: [] },
        speakingStyle: { pace: null, fillers: [] },
        personaRules: [],
        usagePolicies: [],
        authorizations: [],
        voiceProfiles: [],
      })
  })

  test('once under one key, however many at once; with another input the key is refused', async () => {
    await using graph = await supergraph()
    const { owner, member } = await graph.seed.owner().member()
    const input = { subjectId: member.userId, idempotencyKey: 'k', ...carried }
    const made = await Promise.all(Array.from({ length: 10 }, () => make(graph, owner, input)))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect((await list(graph, owner)).totalCount).toBe(1)
    const other = await graph.execute(createPersonProfile, { input: { ...input, displayName: 'Another' } }, { as: owner })
    expect(other.refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
  })

  const refusing = shared(() => supergraph())
  test.each<[string, object, string]>([
    ['without a name', { displayName: ' ' }, 'displayName'],
    ['with a tone of 501 characters', { writingStyle: { tone: 'x'.repeat(501) } }, 'writingStyle.tone'],
    ['with an empty word', { writingStyle: { vocabulary: ['a', ' '] } }, 'writingStyle.vocabulary[1]'],
    ['with 101 fillers', { speakingStyle: { fillers: Array(101).fill('x') } }, 'speakingStyle.fillers'],
    ['with a style of more than 64 KB', { writingStyle: { dos: Array(100).fill('x'.repeat(500)), donts: Array(100).fill('x'.repeat(500)) } }, 'writingStyle'],
    ['with a policy for no product', { usagePolicies: [{ product: '', allowed: true }] }, 'usagePolicies[0].product'],
    ['with evidence that lies nowhere', { authorizations: [{ kind: 'OTHER', reference: '' }] }, 'authorizations[0].reference'],
    ['with a voice of 201 characters', { voiceProfiles: [{ provider: 'v', externalId: 'x'.repeat(201) }] }, 'voiceProfiles[0].externalId'],
    ['about what is no id', { subjectId: 'nonsense' }, 'subjectId'],
    ['about nobody', { subjectId: newId() }, 'subjectId'],
  ])('never %s', async (_, input, field) => {
    const graph = refusing()
    const { owner } = await graph.seed.owner()
    const answer = await graph.execute(createPersonProfile, { input: { displayName: 'A voice', ...input } }, { as: owner })
    expect(answer.refused('BAD_USER_INPUT').extensions.field).toBe(field)
    expect(await graph.rows('select from agents.person_profiles')).toEqual([])
    expect(await graph.rows('select from agents.profile_authorizations')).toEqual([])
  })

  test('never about somebody of another organization, by a member about somebody else, or without an active organization; and so many a day', async () => {
    await using graph = await supergraph({ quotas: { profilesADay: 1 } })
    const { owner, member, outsider } = await graph.seed.owner().member().outsider()
    const ask = (as: Viewer, input: object = {}) => graph.execute(createPersonProfile, { input: { displayName: 'A voice', ...input } }, { as })
    expect((await ask(owner, { subjectId: outsider.userId })).refused('BAD_USER_INPUT').extensions.field).toBe('subjectId')
    ;(await ask(member, { subjectId: owner.userId })).refused('FORBIDDEN')
    expect((await ask({ ...personally(owner), scopes: owner.scopes })).refused('FORBIDDEN').message).toMatch('switch to one')
    await make(graph, owner)
    expect((await ask(owner)).refused('RATE_LIMITED').message).toMatch('person profiles that you wrote')
  })
})

describe('A-06 only the subject, and owners and admins, see a profile', () => {
  test('for everybody else it does not exist: by id, with its source and snapshot, in lists, in totals, and for what would change it', async () => {
    await using graph = await supergraph()
    const { owner, member, viewer, outsider } = await graph.seed.owner().member().viewer().outsider()
    const { id, sourceId, snapshotId } = await seedProfile(graph, { organizationId: owner.organizationId!, subjectId: member.userId! })
    for (const as of [viewer, outsider, { ...person(member.userId!, outsider.organizationId!, ['member']) }]) {
      const none = await graph.execute(personProfile, { id: newId() }, { as })
      expect((await graph.execute(personProfile, { id }, { as })).refused('NOT_FOUND').message.replace(id, '')).toBe(
        none.refused('NOT_FOUND').message.replace(/[\w-]{36}/, ''),
      )
      ;(await graph.execute(profileSource, { id: sourceId }, { as })).refused('NOT_FOUND')
      ;(await graph.execute(styleSnapshot, { id: snapshotId }, { as })).refused('NOT_FOUND')
      expect(await list(graph, as)).toMatchObject({ nodes: [], totalCount: 0 })
      expect(await list(graph, as, { subjectId: member.userId })).toMatchObject({ nodes: [], totalCount: 0 })
      const source = { personProfileId: id, kind: 'POST', title: 'No', text: 'No.' }
      ;(await graph.execute(createProfileSource, { input: source }, { as })).refused('NOT_FOUND')
      ;(await graph.execute(createStyleSnapshot, { input: { personProfileId: id } }, { as })).refused('NOT_FOUND')
    }
    for (const as of [owner, admin(owner), member]) {
      expect((await list(graph, as)).nodes).toEqual([{ id, displayName: 'A voice' }])
      expect((await graph.execute(wholeProfile, { id }, { as })).data().personProfile).toMatchObject({
        sources: { nodes: [{ id: sourceId, text: 'One step, then the next.' }], totalCount: 1 },
        snapshots: { nodes: [{ id: snapshotId, active: true }], totalCount: 1 },
        activeSnapshot: { id: snapshotId },
      })
    }
  })

  test('keys and services are refused by the schema, whatever scopes they have', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const { id, sourceId, snapshotId } = await seedProfile(graph, { organizationId: owner.organizationId!, subjectId: owner.userId! })
    const service: Viewer = { ...owner, kind: 'service', appId: 'app_launcher', onBehalfOf: owner.userId }
    for (const as of [key(owner.organizationId!, ['agents:knowledge.read', 'agents:knowledge.write']), service]) {
      ;(await graph.execute(personProfile, { id }, { as })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
      ;(await graph.execute(profileSource, { id: sourceId }, { as })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
      ;(await graph.execute(styleSnapshot, { id: snapshotId }, { as })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
      ;(await graph.execute(personProfiles, {}, { as })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    }
  })

  test('a query by reference that bypasses the root fields gets nothing, and no error', async () => {
    await using graph = await supergraph()
    const { owner, member, viewer } = await graph.seed.owner().member().viewer()
    const { id, sourceId, snapshotId } = await seedProfile(graph, { organizationId: owner.organizationId!, subjectId: member.userId! })
    const subgraph = graph.platform.agents
    const { personProfiles: rows, profileSources, styleSnapshots, profileAuthorizations } = graph.platform.agents.job('test')
    expect(await Promise.all([rows.find(id), profileSources.find(sourceId), styleSnapshots.find(snapshotId)])).not.toContain(null)
    expect(await profileAuthorizations.manyBy('profileId').load(id)).toHaveLength(1)
    const operation = { fresh: false, signal: new AbortController().signal, read() {}, statement: (run: () => unknown) => run(), requestId: newId() }
    const seen = subgraph.open(viewer, operation as never)
    expect(
      await Promise.all([
        seen.personProfiles.find(id),
        seen.profileSources.find(sourceId),
        seen.styleSnapshots.find(snapshotId),
        seen.profileSources.texts.load(sourceId),
      ]),
    ).toEqual([null, null, null, null])
    expect(await seen.profileAuthorizations.manyBy('profileId').load(id)).toEqual([])
    expect((await seen.profileSources.page('ofProfile', id, {})).nodes).toEqual([])
    expect(await (await seen.styleSnapshots.page('ofProfile', id, {})).totalCount()).toBe(0)
  })
})

describe('profiles are listed', () => {
  test('newest first, page by page, narrowed by subject and state', async () => {
    await using graph = await supergraph()
    const { owner, member } = await graph.seed.owner().member()
    const made = []
    for (const input of [{}, { subjectId: member.userId, status: 'ACTIVE' }, { status: 'ARCHIVED' }]) {
      made.unshift((await make(graph, owner, input)).id)
      await graph.clock.advance(1000)
    }
    const found = async (variables: object) => (await list(graph, owner, variables)).nodes.map(({ id }: { id: string }) => id)
    const first = await list(graph, owner, { first: 2 })
    expect([first.nodes.map(({ id }: { id: string }) => id), first.pageInfo.hasNextPage, first.totalCount]).toEqual([made.slice(0, 2), true, 3])
    expect(await found({ first: 2, after: first.pageInfo.endCursor })).toEqual(made.slice(2))
    expect(await found({ subjectId: member.userId })).toEqual([made[1]])
    expect(await found({ status: 'ARCHIVED' })).toEqual([made[0]])
    expect(await found({ status: 'ACTIVE', subjectId: owner.userId })).toEqual([])
  })

  test('a list of twenty, with all that hangs on each, costs as many statements as one of two', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    for (let count = 0; count < 20; count += 1) await seedProfile(graph, { organizationId: organization.id, subjectId: owner.userId! })
    const whole = `query($first: Int) { personProfiles(first: $first) { totalCount nodes { id subject { name } organization { name } authorizations { id }
      sources(first: 10) { nodes { id text profile { id } } totalCount } snapshots(first: 1) { nodes { active sources { id } } } activeSnapshot { number } } } }`
    const cost = async (first: number) => {
      await graph.execute(whole, { first }, { as: owner })
      const asked = (await graph.statements(async () => (await graph.execute(whole, { first }, { as: owner })).data())).filter(isAsked)
      // Texts are long, so they are read ten by ten.
      const ofTexts = asked.filter(text => text.includes('agents.profile_texts'))
      expect(ofTexts).toHaveLength(Math.ceil(first / 10))
      return asked.length - ofTexts.length
    }
    expect(await cost(20)).toBe(await cost(2))
  })

  test('and whoever is on a page is known by then: to ask back for it costs nothing', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    await seedProfile(graph, { organizationId: organization.id, subjectId: owner.userId! })
    const cost = async (source: string) => {
      const asked = `{ personProfiles { nodes { displayName sources { nodes { ${source} } } } } }`
      await graph.execute(asked, {}, { as: owner })
      return (await graph.statements(async () => (await graph.execute(asked, {}, { as: owner })).data())).filter(isAsked).length
    }
    expect(await cost('id profile { displayName version }')).toBe(await cost('id'))
  })
})

test('who leaves the organization leaves archived profiles behind, once, and on record', async () => {
  await using graph = await supergraph()
  const { owner, member, organization } = await graph.seed.owner().member()
  const { id } = await seedProfile(graph, { organizationId: organization.id, subjectId: member.userId! })
  const other = await seedProfile(graph, { organizationId: organization.id, subjectId: owner.userId! })
  const body = { organizationId: organization.id, membershipId: newId(), userId: member.userId, userKind: 'HUMAN', roles: ['member'] }
  const fact = { id: newId(), from: 'identity', kind: 'membership.removed', subject: `member:${organization.id}:${member.userId}`, at: graph.clock.now(), body }
  // Told twice; and who came back and left again has no profile any more that is in use.
  for (const told of [fact, fact, { ...fact, id: newId() }]) expect(await graph.platform.agents.receive!(told)).toBe('received')
  expect((await graph.execute(personProfile, { id }, { as: owner })).data().personProfile).toMatchObject({ status: 'ARCHIVED', version: 2 })
  expect((await graph.execute(personProfile, { id: other.id }, { as: owner })).data().personProfile).toMatchObject({ status: 'ACTIVE', version: 1 })
  expect(await graph.rows('select action, subject_id from agents.audit_entries')).toEqual([{ action: 'person-profile.archived', subject_id: id }])
})
