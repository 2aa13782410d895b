import { newId } from '../../../../platform/ids.ts'
import type { Scope } from '../../../../subgraphs/scopes.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { type AccessRows, accountants, change, constant, type Fresh, type Ids, publicRoute, row, type Stage } from '../../../access/row.ts'
import { seedDomain, seedIdentity, seedMessage } from './seed.ts'

const admin: readonly Scope[] = ['providers:org.admin']
const invoke: readonly Scope[] = ['providers:service.invoke']
const eachTheirOwn = 'refused yes refused refused refused yes yes'
const nobodys = 'refused refused refused refused refused refused refused'

const domain = (field: string) => (ids: Ids) => `{ senderDomain(id: "${ids.senderDomain}") { ${field} } }`
const message = (field: string) => (ids: Ids) => `{ emailMessage(id: "${ids.emailMessage}") { ${field} } }`

/** A domain of the owner's. An organization may have so many: those of earlier cells go. */
async function anotherDomain({ graph, owner, ids }: Stage) {
  await graph.rows('delete from providers.sender_domains where organization_id is not null and id <> $1', [ids.senderDomain])
  return seedDomain(graph, { organizationId: owner.organizationId! })
}

const freshDomain: Fresh = async stage => (await anotherDomain(stage)).id
const freshIdentity: Fresh = async stage => (await seedIdentity(stage.graph, await anotherDomain(stage))).id
const freshSuppression: Fresh = async stage => suppress(stage, stage.owner.organizationId!)
/** Room for a mail, wherever other rows have set a limit. */
const room: Fresh = async ({ graph }) => {
  await graph.rows('update providers.spend_limits set hard_limit_micros = 1000000 where hard_limit_micros < 1000000')
  return ''
}
const freshName: Fresh = async stage => {
  await anotherDomain(stage)
  return newId().slice(-12)
}

function suppress({ graph }: Pick<Stage, 'graph'>, organizationId: string): Promise<string> {
  const job = graph.platform.providers.job('test')
  const now = graph.clock.now()
  const id = newId(now)
  const row = { organizationId, id, address: `${id}@example.com`, reason: 'manual', createdAt: now, updatedAt: now, createdBy: 'test' }
  return inTransaction(job, async ({ transaction }) => (await job.emailSuppressions.insert(row, transaction)).id)
}

const route = (at: string, scopes: readonly Scope[], cells: string, path: (ids: Ids) => string, body?: (ids: Ids) => unknown, fresh?: Fresh) => ({
  at,
  scopes,
  less: scopes === admin ? invoke : admin,
  cells,
  path,
  ...(body && { body }),
  ...(fresh && { fresh }),
})
const api = '/providers/api/email'

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    const platforms = await seedDomain(graph, { organizationId: null })
    await seedIdentity(graph, platforms, { isDefault: true })
    await seedDomain(graph, { organizationId: outsider.organizationId! })
    await suppress({ graph }, outsider.organizationId!)
    await seedMessage(graph, platforms, outsider.organizationId!)
    const own = await seedDomain(graph, { organizationId: owner.organizationId! })
    const identity = await seedIdentity(graph, own)
    const sent = await seedMessage(graph, platforms, owner.organizationId!)
    await graph.rows('update providers.email_messages set identity_id = $1, failure_code = $3 where id = $2', [identity.id, sent.id, 'GAVE_UP'])
    return { senderDomain: own.id, emailMessage: sent.id, senderIdentity: identity.id, emailSuppression: await suppress({ graph }, owner.organizationId!) }
  },
  fields: [
    row('Query.senderDomains', admin, invoke, eachTheirOwn, constant('{ senderDomains { id } }'), 'senderDomains'),
    row('Query.senderDomain', admin, invoke, accountants, domain('id'), 'senderDomain'),
    row('SenderDomain.organization', admin, invoke, accountants, domain('organization { id }'), 'senderDomain.organization'),
    row('Query.senderIdentities', admin, invoke, eachTheirOwn, constant('{ senderIdentities { id } }'), 'senderIdentities'),
    row('Query.emailSuppressions', admin, invoke, eachTheirOwn, constant('{ emailSuppressions { nodes { id } } }'), 'emailSuppressions'),
    row('Query.emailMessages', invoke, admin, eachTheirOwn, constant('{ emailMessages { nodes { id } } }'), 'emailMessages'),
    row('Query.emailMessage', invoke, admin, accountants, message('id'), 'emailMessage'),
    row('EmailMessage.identity', [...admin, ...invoke], invoke, accountants, message('identity { id }'), 'emailMessage.identity'),
    row(
      'Mutation.addSenderDomain',
      admin,
      invoke,
      eachTheirOwn,
      change('addSenderDomain', ids => `domain: "${ids.fresh}.example.com"`, 'id'),
      'addSenderDomain',
      freshName,
    ),
    row(
      'Mutation.verifySenderDomain',
      admin,
      invoke,
      accountants,
      change('verifySenderDomain', ids => `id: "${ids.fresh}"`, 'id'),
      'verifySenderDomain',
      freshDomain,
    ),
    row(
      'Mutation.removeSenderDomain',
      admin,
      invoke,
      accountants,
      change('removeSenderDomain', ids => `id: "${ids.fresh}"`, 'id'),
      'removeSenderDomain',
      freshDomain,
    ),
    row(
      'Mutation.suspendSenderDomain',
      admin,
      invoke,
      nobodys,
      change('suspendSenderDomain', ids => `id: "${ids.fresh}"`, 'id'),
      'suspendSenderDomain',
      freshDomain,
    ),
    row(
      'Mutation.createSenderIdentity',
      admin,
      invoke,
      accountants,
      change('createSenderIdentity', ids => `domainId: "${ids.fresh}", localPart: "news"`, 'id'),
      'createSenderIdentity',
      freshDomain,
    ),
    row(
      'Mutation.updateSenderIdentity',
      admin,
      invoke,
      accountants,
      change('updateSenderIdentity', ids => `id: "${ids.fresh}", displayName: "News"`, 'id'),
      'updateSenderIdentity',
      freshIdentity,
    ),
    row(
      'Mutation.deleteSenderIdentity',
      admin,
      invoke,
      accountants,
      change('deleteSenderIdentity', ids => `id: "${ids.fresh}"`, 'id'),
      'deleteSenderIdentity',
      freshIdentity,
    ),
    row(
      'Mutation.addEmailSuppression',
      admin,
      invoke,
      eachTheirOwn,
      change('addEmailSuppression', ids => `address: "${ids.fresh}@example.com"`, 'id'),
      'addEmailSuppression',
      freshName,
    ),
    row(
      'Mutation.removeEmailSuppression',
      admin,
      invoke,
      accountants,
      change('removeEmailSuppression', ids => `id: "${ids.fresh}"`, 'id'),
      'removeEmailSuppression',
      freshSuppression,
    ),
    row(
      'Mutation.sendEmail',
      invoke,
      admin,
      eachTheirOwn,
      change('sendEmail', () => 'to: ["ada@example.com"], subject: "A subject", text: "Hello."', 'id'),
      'sendEmail',
      room,
    ),
  ],
  routes: [
    route('GET /providers/api/email/domains', admin, eachTheirOwn, () => `${api}/domains`),
    route(
      'POST /providers/api/email/domains',
      admin,
      eachTheirOwn,
      () => `${api}/domains`,
      ids => ({ domain: `${ids.fresh}.example.com` }),
      freshName,
    ),
    route('GET /providers/api/email/domains/:id', admin, accountants, ids => `${api}/domains/${ids.senderDomain}`),
    route('POST /providers/api/email/domains/:id/verify', admin, accountants, ids => `${api}/domains/${ids.fresh}/verify`, undefined, freshDomain),
    route(
      'POST /providers/api/email/domains/:id/suspend',
      admin,
      nobodys,
      ids => `${api}/domains/${ids.fresh}/suspend`,
      () => ({}),
      freshDomain,
    ),
    route('DELETE /providers/api/email/domains/:id', admin, accountants, ids => `${api}/domains/${ids.fresh}`, undefined, freshDomain),
    route('GET /providers/api/email/identities', admin, eachTheirOwn, () => `${api}/identities`),
    route(
      'POST /providers/api/email/identities',
      admin,
      accountants,
      () => `${api}/identities`,
      ids => ({ domainId: ids.fresh, localPart: 'news' }),
      freshDomain,
    ),
    route(
      'PUT /providers/api/email/identities/:id',
      admin,
      accountants,
      ids => `${api}/identities/${ids.fresh}`,
      () => ({ displayName: 'News' }),
      freshIdentity,
    ),
    route('DELETE /providers/api/email/identities/:id', admin, accountants, ids => `${api}/identities/${ids.fresh}`, undefined, freshIdentity),
    route('GET /providers/api/email/messages', invoke, eachTheirOwn, () => `${api}/messages`),
    route(
      'POST /providers/api/email/messages',
      invoke,
      eachTheirOwn,
      () => `${api}/messages`,
      () => ({ to: ['ada@example.com'], subject: 'A subject', text: 'Hello.' }),
      room,
    ),
    route('GET /providers/api/email/messages/:id', invoke, accountants, ids => `${api}/messages/${ids.emailMessage}`),
    route('GET /providers/api/email/suppressions', admin, eachTheirOwn, () => `${api}/suppressions`),
    route(
      'POST /providers/api/email/suppressions',
      admin,
      eachTheirOwn,
      () => `${api}/suppressions`,
      ids => ({ address: `${ids.fresh}@example.com` }),
      freshName,
    ),
    route('DELETE /providers/api/email/suppressions/:id', admin, accountants, ids => `${api}/suppressions/${ids.fresh}`, undefined, freshSuppression),
    {
      at: 'POST /providers/api/email/events',
      scopes: invoke,
      less: admin,
      cells: publicRoute,
      path: () => `${api}/events`,
      body: () => ({ type: 'bounce' }),
      signed: true,
    },
  ],
}
