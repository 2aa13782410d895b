import { describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { anonymous, person } from '../../../kit/viewers.ts'
import { seedProfile } from '../person-profile/seed.ts'

const mutation = (name: string, type: string, fields: string) => `mutation($input: ${type}!) { ${name}(input: $input) { ${fields} } }`
const update = mutation(
  'updatePersonProfile',
  'UpdatePersonProfileInput',
  'id displayName status version personaRules usagePolicies { product } writingStyle { tone dos vocabulary }',
)
const erase = mutation('erasePersonProfile', 'ErasePersonProfileInput', 'id')
const addSource = mutation('createProfileSource', 'CreateProfileSourceInput', 'id')
const dropSource = mutation('deleteProfileSource', 'DeleteProfileSourceInput', 'id')
const snapshot = mutation('createStyleSnapshot', 'CreateStyleSnapshotInput', 'id number active')
const activate = mutation('activateStyleSnapshot', 'ActivateStyleSnapshotInput', 'id active')
const changes = 'query($fromId: ID!, $toId: ID!) { styleChanges(fromId: $fromId, toId: $toId) { field from to } }'
const authorize = mutation('addProfileAuthorization', 'AddProfileAuthorizationInput', 'id version authorizations { id reference revokedAt }')
const revoke = mutation('revokeProfileAuthorization', 'RevokeProfileAuthorizationInput', 'id version authorizations { id revokedAt }')
const preview = mutation(
  'previewPersonProfile',
  'PreviewPersonProfileInput',
  'text mode notice snapshot { id } citations { start end quote source { id text } }',
)
const apply = mutation('applyPersonProfile', 'ApplyPersonProfileInput', 'text mode notice')
const read = 'query($id: ID!) { personProfile(id: $id) { id activeSnapshot { id } authorizations { id } sources { totalCount } snapshots { totalCount } } }'
const createAgent = mutation('createAgent', 'CreateAgentInput', 'id')

/** A subject with a profile, and somebody else of the organization. */
async function studio(graph: Supergraph) {
  const { owner, outsider } = await graph.seed.owner().outsider()
  const organizationId = owner.organizationId!
  const ids = await seedProfile(graph, { organizationId, subjectId: owner.userId! })
  const ask = async (document: string, variables: object, as: Viewer = owner) => (await graph.execute(document, { ...variables }, { as })).data()
  const refuse = async (document: string, variables: object, code: string, as: Viewer = owner) =>
    (await graph.execute(document, { ...variables }, { as })).refused(code as never).extensions
  const peer = person(newId(), organizationId, ['member'])
  const product = (appId: string, onBehalfOf: string | null = null): Viewer => ({
    ...anonymous,
    ...{ kind: 'service', appId, organizationId, onBehalfOf, userId: onBehalfOf, context: 'organization', scopes: ['agents:knowledge.read'] },
  })
  return { owner, outsider, organizationId, ...ids, ask, refuse, peer, product }
}

describe('a person profile', () => {
  it('is changed under its version: lists are replaced, what is left out stays, a null empties', async () => {
    await using graph = await supergraph()
    const { id, ask, refuse } = await studio(graph)
    const first = (await ask(update, { input: { id, writingStyle: { vocabulary: ['a', 'b'] }, personaRules: ['one'], expectedVersion: 1 } }))
      .updatePersonProfile
    expect(first).toMatchObject({ version: 2, displayName: 'A voice', writingStyle: { tone: 'dry', vocabulary: ['a', 'b'] }, personaRules: ['one'] })
    const second = (await ask(update, { input: { id, writingStyle: { tone: null }, status: 'ARCHIVED' } })).updatePersonProfile
    expect(second).toMatchObject({ status: 'ARCHIVED', writingStyle: { tone: null, vocabulary: ['a', 'b'] }, usagePolicies: [{ product: 'publishing' }] })
    expect(await refuse(update, { input: { id, displayName: 'Late', expectedVersion: 1 } }, 'CONFLICT')).toMatchObject({ reason: 'STALE_VERSION' })
    expect(await refuse(update, { input: { id, displayName: '' } }, 'BAD_USER_INPUT')).toMatchObject({ field: 'displayName' })
  })

  it('shows what changed between two snapshots, and goes back to the earlier one', async () => {
    await using graph = await supergraph()
    const { id, snapshotId, ask, refuse, owner, organizationId } = await studio(graph)
    await ask(update, { input: { id, writingStyle: { tone: 'warm', dos: ['greet', 'ask'] } } })
    const { id: second } = (await ask(snapshot, { input: { personProfileId: id } })).createStyleSnapshot
    expect((await ask(changes, { fromId: snapshotId, toId: second })).styleChanges).toEqual([
      { field: 'writingStyle.tone', from: 'dry', to: 'warm' },
      { field: 'writingStyle.dos', from: null, to: 'greet\nask' },
    ])
    expect((await ask(activate, { input: { id: snapshotId } })).activateStyleSnapshot.active).toBe(true)
    expect((await ask(read, { id })).personProfile.activeSnapshot.id).toBe(snapshotId)
    const other = await seedProfile(graph, { organizationId, subjectId: owner.userId! })
    expect(await refuse(changes, { fromId: snapshotId, toId: other.snapshotId }, 'BAD_USER_INPUT')).toMatchObject({ field: 'toId' })
  })

  it('is withdrawn with its last authorization: the next call is refused, and products are told once', async () => {
    await using graph = await supergraph()
    const { id, ask, refuse } = await studio(graph)
    const wish = { input: { id, product: 'publishing', brief: 'a step', mode: 'EXTRACTIVE' } }
    const more = { input: { personProfileId: id, kind: 'CONTRACT', reference: 'page 3', idempotencyKey: 'key-1' } }
    await graph.clock.run(10)
    await ask(authorize, more)
    const { authorizations } = (await ask(authorize, more)).addProfileAuthorization
    expect(authorizations.map(({ reference }: { reference: string }) => reference)).toEqual(['a form', 'page 3'])
    const facts = () => graph.rows(`select kind from agents.facts where kind like 'profile.%'`)
    await ask(revoke, { input: { id: authorizations[0].id } })
    await ask(preview, wish)
    expect(await facts()).toEqual([])
    await Promise.all([1, 2, 3].map(() => ask(revoke, { input: { id: authorizations[1].id } })))
    expect(await refuse(preview, wish, 'FORBIDDEN')).toMatchObject({ reason: 'AUTHORIZATION_MISSING' })
    expect(await facts()).toEqual([{ kind: 'profile.withdrawn' }])
  })

  it('leaves nothing behind when it was erased but a line without a name, and agents carry it no more', async () => {
    await using graph = await supergraph()
    const { id, ask, refuse, organizationId } = await studio(graph)
    await ask(addSource, { input: { personProfileId: id, kind: 'POST', title: 'Heron title', text: 'Words of the heron.' } })
    const agent = (await ask(createAgent, { input: { name: 'Carrier', instructions: 'Answer.', personProfileId: id } })).createAgent.id
    await ask(erase, { input: { id } })
    await refuse(read, { id }, 'NOT_FOUND')
    for (const table of ['person_profiles', 'profile_sources', 'profile_texts', 'style_snapshots', 'profile_authorizations'])
      expect(await graph.rows(`select 1 from agents.${table}`)).toEqual([])
    expect(await graph.rows('select person_profile_id as id from agents.agents where id = $1', [agent])).toEqual([{ id: null }])
    expect(await graph.rows('select kind, title, organization_id from agents.work_feed')).toEqual([
      { kind: 'PROFILE_ERASED', title: 'A person profile was erased', organization_id: organizationId },
    ])
    const tables = await graph.rows<{ name: string }>(`select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'agents'`)
    for (const { name } of tables) {
      const found = await graph.rows(`select t::text from ${name} t where t::text ilike '%heron%' or t::text ilike '%A voice%'`)
      expect(found, name).toEqual([])
    }
    expect(await graph.rows(`select kind from agents.facts where kind like 'profile.%'`)).toEqual([{ kind: 'profile.erased' }])
  })
})

describe('the export of a profile', () => {
  it('holds all sources with their texts and all snapshots, for its subject and nobody else', async () => {
    await using graph = await supergraph()
    const { id, snapshotId, ask, owner, peer, product } = await studio(graph)
    for (let at = 0; at < 24; at += 1) await ask(addSource, { input: { personProfileId: id, kind: 'POST', title: `Post ${at}`, text: `Text "${at}" 🎈` } })
    const get = (viewer: Viewer) => graph.platform.agents.http!(new Request(`http://agents.test/agents/api/person-profiles/${id}/export`), viewer)
    const answer = await get(owner)
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment/)
    const whole = (await answer.json()) as { profile: object; sources: { text: string }[]; snapshots: { id: string }[] }
    expect(whole.profile).toMatchObject({ id, status: 'active', authorizations: [{ kind: 'consent' }] })
    expect(new Set(whole.sources.map(({ text }) => text)).size).toBe(25)
    expect(whole.sources.map(({ text }) => text)).toContain('Text "23" 🎈')
    expect(whole.snapshots.map(each => each.id)).toEqual([snapshotId])
    expect((await get(peer)).status).toBe(404)
    expect((await get(product('app_publishing'))).status).toBe(403)
  })
})

describe('previewPersonProfile', () => {
  it('writes in sentences of the sources, each with its place, those first that say something of the brief', async () => {
    await using graph = await supergraph()
    const { id, snapshotId, ask } = await studio(graph)
    const text = 'We like tea. 🎈 Small boats ship things often! Nobody knows why.\n\nThe end'
    const { id: sourceId } = (await ask(addSource, { input: { personProfileId: id, kind: 'POST', title: 'Boats', text } })).createProfileSource
    const made = (await ask(preview, { input: { id, product: 'publishing', brief: 'Why do we ship small things?', mode: 'EXTRACTIVE' } })).previewPersonProfile
    expect(made).toMatchObject({ mode: 'EXTRACTIVE', notice: expect.any(String), snapshot: { id: snapshotId } })
    expect(made.citations[0]).toMatchObject({ quote: '🎈 Small boats ship things often!', source: { id: sourceId } })
    for (const { start, end, quote, source } of made.citations) {
      expect(source.text.slice(start, end)).toBe(quote)
      expect(made.text).toContain(quote)
    }
    const none = (await ask(preview, { input: { id, product: 'publishing', brief: 'xyzzy', mode: 'EXTRACTIVE', maxCharacters: 12 } })).previewPersonProfile
    expect(none.citations).toHaveLength(1)
    expect(none.text.length).toBeLessThanOrEqual(12)
  })

  it('is extractive with a notice where no model answers, and fails where one was required', async () => {
    await using graph = await supergraph()
    const { id, ask, refuse } = await studio(graph)
    const wish = { id, product: 'publishing', brief: 'the next step' }
    expect((await ask(preview, { input: wish })).previewPersonProfile).toMatchObject({ mode: 'EXTRACTIVE', notice: expect.stringMatching(/model/) })
    await refuse(preview, { input: { ...wish, mode: 'MODEL' } }, 'UPSTREAM_FAILED')
  })

  it('is refused for uses that are not allowed, admins included, and for profiles that are archived or without source', async () => {
    await using graph = await supergraph()
    const { id, sourceId, ask, refuse, peer, outsider } = await studio(graph)
    const wish = (more: object = {}) => ({ input: { id, product: 'publishing', brief: 'a step', mode: 'EXTRACTIVE', ...more } })
    expect(await refuse(preview, wish({ product: 'payments' }), 'FORBIDDEN')).toMatchObject({ reason: 'USAGE_NOT_ALLOWED' })
    for (const nobody of [peer, outsider]) await refuse(preview, wish(), 'NOT_FOUND', nobody)
    expect(await refuse(preview, wish({ brief: ' ' }), 'BAD_USER_INPUT')).toMatchObject({ field: 'brief' })
    expect(await refuse(preview, wish({ maxCharacters: 0 }), 'BAD_USER_INPUT')).toMatchObject({ field: 'maxCharacters' })
    await ask(dropSource, { input: { id: sourceId } })
    expect(await refuse(preview, wish(), 'CONFLICT')).toMatchObject({ reason: 'NO_SOURCES' })
    await ask(update, { input: { id, status: 'ARCHIVED' } })
    expect(await refuse(preview, wish(), 'CONFLICT')).toMatchObject({ reason: 'PROFILE_INACTIVE' })
  })
})

describe('applyPersonProfile', () => {
  it('gives a product a text on behalf of somebody who may not see the profile, and the feed says so', async () => {
    await using graph = await supergraph()
    const { id, ask, refuse, owner, outsider, product } = await studio(graph)
    const input = { id, product: 'publishing', brief: 'the next step' }
    const { applyPersonProfile: applied } = await ask(apply, { input }, product('app_publishing'))
    expect(applied).toMatchObject({ mode: 'EXTRACTIVE', notice: expect.any(String), text: 'One step, then the next.' })
    const elsewhere = { ...product('app_publishing'), organizationId: outsider.organizationId! }
    await refuse(apply, { input }, 'NOT_FOUND', elsewhere)
    await refuse(apply, { input: { ...input, product: 'launcher' } }, 'FORBIDDEN', product('app_publishing'))
    await refuse(apply, { input }, 'UNAUTHORIZED_FIELD_OR_TYPE', owner)
    await refuse(read, { id }, 'UNAUTHORIZED_FIELD_OR_TYPE', product('app_publishing'))
    expect(await graph.rows('select kind, actor, title from agents.work_feed')).toEqual([
      { kind: 'PROFILE_APPLIED', actor: 'service:app_publishing', title: 'A person profile was applied by publishing' },
    ])
    await ask(update, { input: { id, status: 'DRAFT' } })
    expect(await refuse(apply, { input }, 'CONFLICT', product('app_publishing'))).toMatchObject({ reason: 'PROFILE_INACTIVE' })
  })
})
