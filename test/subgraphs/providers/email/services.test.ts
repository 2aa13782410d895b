import { describe, expect, test } from 'vitest'
import { registration as launcher } from '../../../../subgraphs/launcher/registration.ts'
import { anonymous, type Viewer } from '../../../../subgraphs/viewer.ts'
import { service } from '../processor/stage.ts'
import { sendingWorld, twins } from './sending.ts'

const list = '{ emailMessages { nodes { subject } } }'
const read = 'query($id: ID!) { emailMessage(id: $id) { subject } }'

describe('mails of services', () => {
  test('are shown to the app alone that has sent them: a subject may hold a code', async () => {
    const { graph, owner, send } = await sendingWorld(null)
    const support = service(owner.organizationId!, ['EMAIL'], 'app_support')
    const payments = service(owner.organizationId!, ['EMAIL', 'PAYMENTS'])
    const { id } = await send({ subject: 'Your code is 123 456' }, payments)
    await send({ subject: 'From a person' })
    const subjects = async (as: typeof owner) => {
      const { nodes } = (await graph.execute(list, {}, { as })).data().emailMessages as { nodes: { subject: string }[] }
      return nodes.map(({ subject }) => subject).sort()
    }
    expect(await subjects(payments)).toEqual(['Your code is 123 456'])
    expect(await subjects(support)).toEqual([])
    expect(await subjects(owner)).toEqual(['From a person', 'Your code is 123 456'])
    expect((await graph.execute(read, { id }, { as: payments })).data().emailMessage).toMatchObject({ subject: 'Your code is 123 456' })
    ;(await graph.execute(read, { id }, { as: support })).refused('NOT_FOUND')
  })

  test('are hidden from services whose client may not send any', async () => {
    const { graph, owner, send } = await sendingWorld(null)
    const { id } = await send()
    const publishing = service(owner.organizationId!, ['VIDEO', 'NETWORK_APPLICATIONS'], 'app_publishing')
    ;(await graph.execute(list, {}, { as: publishing })).refused('FORBIDDEN')
    ;(await graph.execute(read, { id }, { as: publishing })).refused('FORBIDDEN')
  })
})

/** The launcher as it asks within the platform, embedded or by its seal. */
const within = (organizationId: string | null): Viewer => ({
  ...anonymous,
  kind: 'service',
  appId: 'app_launcher',
  organizationId,
  context: organizationId === null ? 'personal' : 'organization',
  scopes: launcher.asks.filter(scope => scope.startsWith('providers:')),
})

const kind = { headers: [{ name: 'X-Supergraph-Mail', value: 'household-invitation' }] }

describe('mails of the platform’s own services', () => {
  test('name their kind in X-Supergraph-Mail, which nobody else may set', async () => {
    const { server, received } = await twins()
    const { owner, send, trySend, tryAll } = await sendingWorld(server)
    await send({ ...kind, to: ['of-launcher@example.com'] }, within(owner.organizationId))
    await tryAll()
    expect(await received()).toMatchObject([{ to: ['of-launcher@example.com'], headers: { 'x-supergraph-mail': 'household-invitation' } }])
    for (const other of [owner, service(owner.organizationId!, ['EMAIL']), service(owner.organizationId!, ['EMAIL'], 'app_launcher')])
      expect((await trySend(kind, other)).refused('BAD_USER_INPUT').extensions).toMatchObject({ field: 'headers[0].name' })
  })

  test('without an organization are charged to the organization that administers the platform', async () => {
    const { graph, owner, outsider, send, trySend } = await sendingWorld(null)
    ;(await trySend({}, within(null))).refused('BAD_USER_INPUT')
    await graph.platform.providers.job('test').platformOrganization.learn(outsider.organizationId!)
    const { id, status } = await send(kind, within(null))
    expect(status).toBe('QUEUED')
    expect(await graph.rows('select organization_id, app_id from providers.email_messages where id = $1', [id])).toEqual([
      { organization_id: outsider.organizationId, app_id: 'app_launcher' },
    ])
    expect(await graph.rows('select organization_id, app_id, user_id from providers.calls')).toEqual([
      { organization_id: outsider.organizationId, app_id: 'app_launcher', user_id: null },
    ])
    // A process that died before it recorded the answer asks once more, and gets the same mail.
    const idempotencyKey = 'one-mail'
    const first = await send({ ...kind, idempotencyKey }, within(null))
    expect((await send({ ...kind, idempotencyKey }, within(null))).id).toBe(first.id)
    expect(await graph.rows('select from providers.email_messages')).toHaveLength(2)
    // A token from outside names its organization with every call.
    ;(await trySend({}, { ...service(owner.organizationId!, ['EMAIL'], 'app_launcher'), organizationId: null })).refused('BAD_USER_INPUT')
  })
})
