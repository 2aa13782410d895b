import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { personalScopes } from '../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { key, personally } from '../../../kit/viewers.ts'

let graph: Supergraph
let owner: Viewer
let member: Viewer
beforeAll(async () => {
  graph = await supergraph()
})
beforeEach(async () => {
  ;({ owner, member } = await graph.seed.owner().member())
})
afterAll(() => graph[Symbol.asyncDispose]())

const shown = 'timeZone quietHours { from to } digest { frequency at weekday } rules { app kind inApp email push } version'
const read = async (as: Viewer) => (await graph.execute(`{ notificationPreferences { ${shown} } }`, {}, { as })).data().notificationPreferences
const update = (as: Viewer, input: object) =>
  graph.execute(`mutation($input: UpdateNotificationPreferencesInput!) { updateNotificationPreferences(input: $input) { ${shown} } }`, { input }, { as })
const updated = async (as: Viewer, input: object) => (await update(as, input)).data().updateNotificationPreferences
const rule = (app: string, kind: string, inApp: boolean) => ({ app, kind, inApp, email: false, push: true })
const unsettled = { timeZone: 'UTC', quietHours: null, digest: { frequency: 'OFF', at: '08:00', weekday: 'MONDAY' }, rules: [], version: 0 }

describe('updateNotificationPreferences', () => {
  it('changes what is given for one person in every context, and keeps the rest', async () => {
    expect(await read(owner)).toEqual(unsettled)
    const quietHours = { from: '22:00', to: '07:00' }
    const first = await updated(owner, { timeZone: 'europe/berlin', quietHours, rules: [rule('launcher', '*', true)], expectedVersion: 0 })
    expect(first).toEqual({ ...unsettled, timeZone: 'Europe/Berlin', quietHours, rules: [rule('launcher', '*', true)], version: 1 })
    expect(await updated(owner, { digest: { frequency: 'WEEKLY', weekday: 'FRIDAY' } })).toMatchObject({
      ...{ timeZone: 'Europe/Berlin', quietHours, rules: [rule('launcher', '*', true)] },
      digest: { frequency: 'WEEKLY', at: '08:00', weekday: 'FRIDAY' },
    })
    expect(await updated(owner, { quietHours: null, rules: [] })).toMatchObject({ quietHours: null, rules: [], version: 3 })
    expect(await read({ ...personally(owner), scopes: personalScopes })).toMatchObject({ timeZone: 'Europe/Berlin', version: 3 })
    expect(await read(member)).toEqual(unsettled)
  })

  it('refuses a stale version, keys, and what is no time, zone, app or kind', async () => {
    expect((await update(member, { timeZone: 'UTC', expectedVersion: 1 })).refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
    for (const [field, input] of [
      ['timeZone', { timeZone: 'Mars/Olympus' }],
      ['quietHours.from', { quietHours: { from: '24:00', to: '07:00' } }],
      ['quietHours.to', { quietHours: { from: '07:00', to: '07:00' } }],
      ['digest.at', { digest: { at: '8:00' } }],
      ['rules.app', { rules: [rule('Help Desk', '*', true)] }],
      ['rules.kind', { rules: [rule('*', 'a b', true)] }],
      ['rules', { rules: Array.from({ length: 101 }, () => rule('*', '*', true)) }],
    ] as const)
      expect((await update(member, input)).refused('BAD_USER_INPUT').extensions.field, field).toBe(field)
    const program = key(owner.organizationId!, ['launcher:notifications.read', 'launcher:notifications.write'])
    ;(await update(program, { timeZone: 'UTC' })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    expect(await read(program)).toBeNull()
    expect(await read(member)).toEqual(unsettled)
  })

  it('makes one of two first changes at once win', async () => {
    const answers = await Promise.all(['Europe/Berlin', 'Europe/Paris'].map(timeZone => update(member, { timeZone, expectedVersion: 0 })))
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1)
  })
})

describe('rules', () => {
  it('keep what a person does not want out of the app, the first fitting one, but nothing that is CRITICAL', async () => {
    await updated(owner, { rules: [rule('payments', 'order.refunded', true), rule('payments', '*', false), rule('providers', '*', false)] })
    const tell = async (from: string, kind: string, body: object) =>
      expect(await graph.platform.launcher.receive!({ id: newId(), from, kind, subject: `test:${newId()}`, at: graph.clock.now(), body })).toBe('received')
    const payment = {
      organizationId: owner.organizationId,
      orderId: newId(),
      merchantId: newId(),
      amountMinor: 100,
      currency: 'EUR',
      at: graph.clock.now().toISOString(),
    }
    const alert = { organizationId: owner.organizationId, limitId: newId(), scopeType: 'ORGANIZATION' }
    await tell('payments', 'order.paid', payment)
    await tell('payments', 'order.refunded', payment)
    await tell('providers', 'budget.alert', { ...alert, kind: 'PERCENT_95' })
    await tell('providers', 'budget.alert', { ...alert, kind: 'EXHAUSTED' })
    await expect.poll(() => graph.rows('select from launcher.notices'), { timeout: 10_000 }).toEqual([])
    const { nodes } = (await graph.execute('{ notifications { nodes { kind severity } } }', {}, { as: owner })).data().notifications
    expect(nodes).toHaveLength(2)
    expect(nodes).toEqual(
      expect.arrayContaining([
        { kind: 'order.refunded', severity: 'NORMAL' },
        { kind: 'budget.alert', severity: 'CRITICAL' },
      ]),
    )
  })
})
