import { expect, test } from 'vitest'
import { provideDemo } from '../../../subgraphs/agents/demo.ts'
import { provideDemo as providePeople } from '../../../subgraphs/identity/setup/demo.ts'
import { supergraph } from '../../kit/supergraph.ts'
import { person } from '../../kit/viewers.ts'
import { createStyleSnapshot, personProfile, wholeProfile } from './documents.ts'

test('the demo has a profile of its member, whole and once, however many start at the same moment; what people change in it stays', async () => {
  await using graph = await supergraph()
  const { organizationId, userId, memberId } = await providePeople(graph.platform.identity, null)
  const provide = () => provideDemo(graph.platform.agents.job(`user:${userId}`), { organizationId, userId, subjectId: memberId })
  const [{ personProfileId: id }] = await Promise.all([provide(), provide()])
  const member = person(memberId, organizationId, ['member'])
  const { personProfile: profile } = (await graph.execute(personProfile, { id }, { as: member })).data()
  expect(profile).toMatchObject({
    displayName: 'Demo voice',
    status: 'ACTIVE',
    subject: { id: memberId },
    authorizations: [{ kind: 'CONSENT', revokedAt: null }],
    usagePolicies: [{ product: 'publishing', allowed: true }],
  })
  const filled = [...Object.values(profile.writingStyle), ...Object.values(profile.speakingStyle), profile.personaRules, profile.voiceProfiles]
  expect(filled.filter(value => (value as string | unknown[] | null)?.length)).toHaveLength(filled.length)
  const { personProfile: below } = (await graph.execute(wholeProfile, { id }, { as: member })).data()
  expect(below.sources.nodes.map(({ status }: { status: string }) => status)).toEqual(['READY', 'READY'])
  expect(below.activeSnapshot).toMatchObject({ number: 1, active: true, sources: [{}, {}], measures: { sentences: 7 } })
  // It is what a person would have taken.
  const taken = (await graph.execute(createStyleSnapshot, { input: { personProfileId: id } }, { as: member })).data().createStyleSnapshot
  expect(taken).toMatchObject({ id: below.activeSnapshot.id, justTaken: false })
  await graph.rows(`update agents.person_profiles set display_name = 'Renamed'`)
  await provide()
  expect(await graph.rows('select display_name from agents.person_profiles')).toEqual([{ display_name: 'Renamed' }])
})
