import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { personalScopes } from '../../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { key, personally } from '../../../../kit/viewers.ts'

let graph: Supergraph
let owner: Viewer
let member: Viewer
let outsider: Viewer
beforeAll(async () => {
  graph = await supergraph()
})
beforeEach(async () => {
  ;({ owner, member, outsider } = await graph.seed.owner().member().outsider())
})
afterAll(() => graph[Symbol.asyncDispose]())

const fields = 'person { theme locale timeZone startPage version } organization { defaultStartPage supportUrl version }'
const read = async (as: Viewer) => (await graph.execute(`{ launcherSettings { ${fields} } }`, {}, { as })).data().launcherSettings
const change = (as: Viewer, name: 'updatePersonSettings' | 'updateOrganizationSettings', input: object) =>
  graph.execute(`mutation($input: U${name.slice(1)}Input!) { ${name}(input: $input) { ${fields} } }`, { input }, { as })
const ofPerson = (as: Viewer, input: object) => change(as, 'updatePersonSettings', input)
const ofOrganization = (as: Viewer, input: object) => change(as, 'updateOrganizationSettings', input)

const unchanged = {
  person: { theme: 'SYSTEM', locale: null, timeZone: null, startPage: null, version: 0 },
  organization: { defaultStartPage: null, supportUrl: null, version: 0 },
}

describe('launcherSettings', () => {
  it('has defaults before anybody has changed anything', async () => {
    expect(await read(member)).toEqual(unchanged)
    expect(await read({ ...personally(member), scopes: personalScopes })).toEqual({ ...unchanged, organization: null })
    expect(await read(key(owner.organizationId!, ['launcher:settings.read']))).toEqual({ ...unchanged, person: null })
  })
})

describe('updatePersonSettings', () => {
  it('changes a person’s own settings in every context, and nobody else’s', async () => {
    const given = { theme: 'DARK', locale: 'de-ch', timeZone: 'europe/berlin', startPage: '/actions?kind=open' }
    const shown = { theme: 'DARK', locale: 'de-CH', timeZone: 'Europe/Berlin', startPage: '/actions?kind=open', version: 1 }
    expect((await ofPerson(member, given)).data().updatePersonSettings).toEqual({ ...unchanged, person: shown })
    expect((await read({ ...personally(member), scopes: personalScopes })).person).toEqual(shown)
    expect((await read(owner)).person).toEqual(unchanged.person)
    expect((await ofPerson(member, { theme: null, locale: null })).data().updatePersonSettings.person).toEqual({
      ...{ ...shown, theme: 'SYSTEM', locale: null, version: 2 },
    })
  })

  it('writes nothing when nothing changes', async () => {
    expect((await ofPerson(member, { theme: 'SYSTEM' })).data().updatePersonSettings.person.version).toBe(0)
    expect(await graph.rows('select id from launcher.person_settings where id = $1', [member.userId])).toEqual([])
  })

  it('lets one of two first changes at once win when both name version 0', async () => {
    const answers = await Promise.all(['DARK', 'LIGHT'].map(theme => ofPerson(member, { theme, expectedVersion: 0 })))
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1)
    expect((await ofPerson(member, { theme: 'SYSTEM', expectedVersion: 0 })).refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
  })

  it.each([
    [{ locale: 'not a tag' }, 'locale'],
    [{ timeZone: 'Mars/Olympus' }, 'timeZone'],
    [{ timeZone: '+02:00' }, 'timeZone'],
    [{ startPage: 'https://evil.example/' }, 'startPage'],
    [{ startPage: '//evil.example/' }, 'startPage'],
    [{ startPage: '/\\evil.example/' }, 'startPage'],
    [{ startPage: '/\n/evil.example/' }, 'startPage'],
    [{ startPage: `/${'x'.repeat(200)}` }, 'startPage'],
  ])('refuses %o with the field', async (input, field) => {
    expect((await ofPerson(member, input)).refused('BAD_USER_INPUT').extensions.field).toBe(field)
  })

  it('is refused to keys, which have no settings of their own', async () => {
    ;(await ofPerson(key(owner.organizationId!, ['launcher:settings.write']), { theme: 'DARK' })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
  })
})

describe('updateOrganizationSettings', () => {
  it('changes them for everybody of the organization, with an audit entry', async () => {
    const given = { supportUrl: 'https://help.example/', defaultStartPage: '/apps' }
    expect((await ofOrganization(owner, given)).data().updateOrganizationSettings.organization).toEqual({ ...given, version: 1 })
    expect((await read(member)).organization).toEqual({ ...given, version: 1 })
    expect((await read(outsider)).organization).toEqual(unchanged.organization)
    const program = key(owner.organizationId!, ['launcher:settings.write'])
    expect((await ofOrganization(program, { supportUrl: null })).data().updateOrganizationSettings).toEqual({
      ...{ person: null, organization: { supportUrl: null, defaultStartPage: '/apps', version: 2 } },
    })
    const entries = await graph.rows('select actor, details from launcher.audit_entries where tenant_id = $1 order by at, id', [owner.organizationId])
    expect(entries).toEqual([
      { actor: `user:${owner.userId}`, details: { changed: ['defaultStartPage', 'supportUrl'] } },
      { actor: `key:${program.keyId}`, details: { changed: ['supportUrl'] } },
    ])
  })

  it('is refused to members, in personal context, for a stale version and for addresses that are none', async () => {
    ;(await ofOrganization(member, { supportUrl: null })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    const alone = { ...personally(owner), scopes: personalScopes }
    expect((await ofOrganization(alone, { supportUrl: null })).refused('CONFLICT').extensions.reason).toBe('CONTEXT')
    expect((await ofOrganization(owner, { expectedVersion: 7 })).refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
    expect((await ofOrganization(owner, { supportUrl: 'http://help.example/' })).refused('BAD_USER_INPUT').extensions.field).toBe('supportUrl')
  })
})
