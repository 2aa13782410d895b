import { expect } from 'vitest'
import { type Exchanges, list, made } from './exchange.ts'

const base = '/providers/api/email'

export const email: Exchanges = world => {
  let count = 0
  const another = () => {
    count += 1
    return `mail-${count}.example.com`
  }
  const ask = async (method: string, path: string, body: object) => (await world().ask('owner', method, `${base}/${path}`, body)).json
  const aDomain = async () => (await ask('POST', 'domains', { domain: another() })).id as string
  const anIdentity = async () => (await ask('POST', 'identities', { domainId: await aDomain(), localPart: 'news' })).id as string
  const aSuppression = async () => (await ask('POST', 'suppressions', { address: `ada@${another()}` })).id as string
  const mail = { to: ['ada@example.com'], cc: ['grace@example.com'], subject: 'Welcome', text: 'Hello.', html: '<p>Hello.</p>' }
  const aMail = async () => (await ask('POST', 'messages', mail)).id as string
  const [domains, identities, messages, suppressions] = ['domains', 'identities', 'messages', 'suppressions'].map(each => `${base}/${each}`) as [
    string,
    string,
    string,
    string,
  ]
  const below = (path: string, rest = '') => ({ at: `${path}/:id${rest}`, path: (id: string) => `${path}/${id}${rest}` })
  const gone = () => ({ status: 204, text: '' })
  const whole = (name: string) => () => ({ status: 200, json: { [name]: expect.any(Array) } })
  return {
    [`GET ${domains}`]: { path: () => domains, forbidden: 'viewer', answers: whole('domains') },
    [`POST ${domains}`]: { path: () => domains, body: () => ({ domain: 'mail.example.com' }), forbidden: 'viewer', answers: made(domains) },
    [`GET ${below(domains).at}`]: {
      path: below(domains).path,
      make: aDomain,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, kind: 'custom', level: 'organization', status: 'pending' } }),
    },
    [`POST ${below(domains, '/verify').at}`]: {
      path: below(domains, '/verify').path,
      make: aDomain,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'pending', lastCheckedAt: expect.any(String) } }),
    },
    [`POST ${below(domains, '/suspend').at}`]: {
      path: below(domains, '/suspend').path,
      make: aDomain,
      body: () => ({ suspended: true }),
      forbidden: 'owner',
      by: 'super',
      answers: id => ({ status: 200, headers: { etag: '"2"' }, json: { id, status: 'suspended' } }),
    },
    [`DELETE ${below(domains).at}`]: { path: below(domains).path, make: aDomain, forbidden: 'viewer', answers: gone, once: true },
    [`GET ${identities}`]: { path: () => identities, forbidden: 'viewer', answers: whole('identities') },
    [`POST ${identities}`]: {
      path: () => identities,
      body: () => ({ domainId: world().senderDomainId, localPart: 'news', displayName: 'News' }),
      forbidden: 'viewer',
      answers: () => ({ status: 201, headers: { etag: '"1"' }, json: { address: expect.stringMatching(/^news@/), displayName: 'News', isDefault: false } }),
    },
    [`PUT ${below(identities).at}`]: {
      path: below(identities).path,
      make: anIdentity,
      body: () => ({ displayName: 'Our news', replyTo: 'office@example.com' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, headers: { etag: '"2"' }, json: { id, displayName: 'Our news', replyTo: 'office@example.com' } }),
    },
    [`DELETE ${below(identities).at}`]: { path: below(identities).path, make: anIdentity, forbidden: 'viewer', answers: gone, once: true },
    [`GET ${messages}`]: { path: () => messages, forbidden: 'viewer', answers: list('messages') },
    [`POST ${messages}`]: {
      path: () => messages,
      body: () => mail,
      forbidden: 'viewer',
      answers: () => ({
        status: 201,
        headers: { location: expect.stringMatching(new RegExp(`^${messages}/[\\w-]{36}$`)) },
        json: { status: 'queued', to: mail.to, cc: mail.cc },
      }),
    },
    [`GET ${below(messages).at}`]: {
      path: below(messages).path,
      make: aMail,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'queued', failure: null, attempts: 0, providerMessageId: null } }),
    },
    [`GET ${suppressions}`]: { path: () => suppressions, forbidden: 'viewer', answers: list('suppressions') },
    [`POST ${suppressions}`]: {
      path: () => suppressions,
      body: () => ({ address: 'Ada@example.com', reason: 'asked us to' }),
      forbidden: 'viewer',
      answers: () => ({ status: 201, json: { address: 'ada@example.com', reason: 'asked us to' } }),
    },
    [`DELETE ${below(suppressions).at}`]: { path: below(suppressions).path, make: aSuppression, forbidden: 'viewer', answers: gone, once: true },
  }
}
