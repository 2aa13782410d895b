import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../../platform/ids.ts'
import { personalScopes } from '../../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { key, personally } from '../../../../kit/viewers.ts'
import { removeInstallations, seedApps } from '../../catalog/seed.ts'
import { seedRecovery } from './seed.ts'

let graph: Supergraph
let owner: Viewer
let member: Viewer
let serviceId: string
beforeAll(async () => {
  graph = await supergraph({ marketing: { developersWebUrl: 'https://developers.example' } })
  await seedApps(graph, { slug: 'team-board' }, { slug: 'menu-board' }, { slug: 'engine-room', kind: 'technical' })
  serviceId = (await graph.execute('{ service(slug: "launcher") { id } }')).data().service.id
})
beforeEach(async () => {
  ;({ owner, member } = await graph.seed.owner().member())
  await removeInstallations(graph)
})
afterAll(() => graph[Symbol.asyncDispose]())

const ask = (as: Viewer, document: string, variables: object = {}) => graph.execute(document, variables as Record<string, unknown>, { as })
const read = async (as: Viewer) => (await ask(as, '{ onboarding { state serviceId next canComplete } }')).data().onboarding
const complete = (as: Viewer, input: object = {}) =>
  ask(as, 'mutation($input: CompleteServiceOnboardingInput!) { completeServiceOnboarding(input: $input) { state next canComplete } }', {
    input: { serviceId, ...input },
  })
const installed = (as: Viewer) =>
  graph.rows<{ app: string }>('select app from launcher.installations where organization_id = $1 order by app', [as.organizationId])
const alone = (viewer: Viewer): Viewer => ({ ...personally(viewer), scopes: personalScopes })

describe('onboarding', () => {
  it('begins with the recovery address in every context, for members too', async () => {
    for (const viewer of [owner, member, alone(owner)])
      expect(await read(viewer)).toEqual({ state: 'RECOVERY_EMAIL', serviceId, next: '/onboarding', canComplete: false })
  })

  it('goes on with the organization for who manages it, and for nobody else', async () => {
    for (const viewer of [owner, member]) await seedRecovery(graph, viewer)
    expect(await read(owner)).toEqual({ state: 'SERVICE', serviceId, next: '/onboarding', canComplete: true })
    for (const viewer of [member, alone(owner)]) expect(await read(viewer)).toEqual({ state: 'DONE', serviceId, next: '/dashboard', canComplete: false })
  })

  it('asks nobody for a recovery address whose account another issuer keeps', async () => {
    await graph.rows(`insert into identity.foreign_people (issuer, subject, user_id, created_at) values ('https://issuer.example', $1, $2, now())`, [
      newId(),
      member.userId,
    ])
    expect((await read(member)).state).toBe('DONE')
  })
})

describe('completeServiceOnboarding', () => {
  it('refuses an unverified recovery address with RECOVERY_EMAIL and installs nothing', async () => {
    expect((await complete(owner, { apps: ['team-board'] })).refused('CONFLICT').extensions.reason).toBe('RECOVERY_EMAIL')
    expect(await installed(owner)).toEqual([])
  })

  it('completes an organization once when twenty ask at once, and installs its apps', async () => {
    await seedRecovery(graph, owner)
    const answers = await Promise.all(Array.from({ length: 20 }, () => complete(owner, { apps: ['team-board', 'menu-board'], teamSize: 12, useCase: 'Menus' })))
    for (const answer of answers) expect(answer.data().completeServiceOnboarding).toEqual({ state: 'DONE', next: '/dashboard', canComplete: false })
    expect((await installed(owner)).map(({ app }) => app)).toEqual(['menu-board', 'team-board'])
    const audits = await graph.rows(`select 1 from launcher.audit_entries where tenant_id = $1 and action = 'onboarding.completed'`, [owner.organizationId])
    expect(audits).toHaveLength(1)
    expect((await read(owner)).state).toBe('DONE')
    const [kept] = await graph.rows('select apps, team_size as size, use_case as use from launcher.organization_onboardings where id = $1', [
      owner.organizationId,
    ])
    expect(kept).toEqual({ apps: ['menu-board', 'team-board'], size: 12, use: 'Menus' })
  })

  it('refuses personal context, another service and who manages nothing', async () => {
    for (const viewer of [owner, member]) await seedRecovery(graph, viewer)
    expect((await complete(alone(owner))).refused('CONFLICT').extensions.reason).toBe('CONTEXT')
    expect((await complete(owner, { serviceId: newId() })).refused('BAD_USER_INPUT').extensions.field).toBe('serviceId')
    expect((await complete(member)).code).toBe('UNAUTHORIZED_FIELD_OR_TYPE')
    expect((await complete({ ...member, scopes: owner.scopes })).code).toBe('FORBIDDEN')
  })

  it.each([
    ['apps', { apps: ['team-board', 'team-board'] }],
    ['apps', { apps: ['Team Board'] }],
    ['apps', { apps: Array.from({ length: 21 }, (_, at) => `app-${at}`) }],
    ['teamSize', { teamSize: 0 }],
    ['useCase', { useCase: 'x'.repeat(501) }],
  ])('refuses a wrong %s and stores nothing', async (field, input) => {
    await seedRecovery(graph, owner)
    expect((await complete(owner, input)).refused('BAD_USER_INPUT').extensions.field).toBe(field)
    expect((await read(owner)).state).toBe('SERVICE')
  })

  it('installs nothing when one of the apps cannot be installed', async () => {
    await seedRecovery(graph, owner)
    expect((await complete(owner, { apps: ['team-board', 'engine-room'] })).refused('CONFLICT').extensions.reason).toBe('NOT_LAUNCHABLE')
    expect((await complete(owner, { apps: ['team-board', 'nowhere'] })).code).toBe('NOT_FOUND')
    expect(await installed(owner)).toEqual([])
    expect((await read(owner)).state).toBe('SERVICE')
  })
})

describe('workspace', () => {
  const document = `{ workspace { context organization { id } service { id slug capabilities } onboarding { state } links { apiKeys households appCommerce developerSignup } } }`

  it('says where the viewer works', async () => {
    const links = {
      ...{ apiKeys: 'http://localhost:4000/launcher/settings/keys', households: 'http://localhost:4000/launcher/settings/households' },
      developerSignup: 'https://developers.example/signup',
    }
    const service = { id: serviceId, slug: 'launcher', capabilities: ['HOUSEHOLD_CAPABLE'] }
    expect((await ask(owner, document)).data().workspace).toMatchObject({
      ...{ context: 'ORGANIZATION', organization: { id: owner.organizationId }, service, onboarding: { state: 'RECOVERY_EMAIL' }, links },
    })
    expect((await ask(alone(owner), document)).data().workspace).toMatchObject({ context: 'PERSONAL', organization: null, service })
  })

  it('says nothing of onboarding to a key', async () => {
    const reader = key(owner.organizationId!, ['launcher:launcher.read'])
    expect((await ask(reader, '{ workspace { context service { slug } } }')).data().workspace).toEqual({
      context: 'ORGANIZATION',
      service: { slug: 'launcher' },
    })
    expect((await ask(reader, '{ onboarding { state } }')).code).toBe('UNAUTHORIZED_FIELD_OR_TYPE')
  })
})
