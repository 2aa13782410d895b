import { expect } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import { inTransaction } from '../../../subgraphs/store/write.ts'
import { seedAttention } from '../../subgraphs/launcher/action-item/seed.ts'
import type { Who } from '../world.ts'
import { type Exchanges, list, made } from './exchange.ts'

const api = '/launcher/api'

const subscriptions = `${api}/push/subscriptions`
/** A browser as it describes itself: the example of RFC 8291. */
const browser = {
  endpoint: 'https://push.example/send/1',
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
}

/** Favourites, shared links, announcements and settings. */
const links: Exchanges = world => {
  const [favourites, sharedLinks, announcements, settings] = [`${api}/favourites`, `${api}/shared-links`, `${api}/announcements`, `${api}/settings`]
  const link = (title: string) => ({ title, url: 'https://demo.example/rota' })
  const anId = async (path: string, body: object) => (await world().ask('owner', 'POST', path, body)).json.id as string
  const anAnnouncement = () => anId(announcements, { title: 'Stocktaking', body: 'The shop is closed on Monday.' })
  return {
    [`GET ${favourites}`]: { path: () => favourites, forbidden: 'reader', answers: () => ({ status: 200, json: { favourites: expect.any(Array) } }) },
    [`PUT ${favourites}/order`]: {
      path: () => `${favourites}/order`,
      body: () => ({ ids: [] }),
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { favourites: [] } }),
    },
    [`POST ${favourites}`]: {
      path: () => favourites,
      body: () => link('Rota'),
      forbidden: 'reader',
      answers: () => ({ status: 201, json: { ...link('Rota'), app: null, order: 0 } }),
    },
    [`DELETE ${favourites}/:id`]: {
      path: id => `${favourites}/${id}`,
      make: () => anId(favourites, link('Wiki')),
      forbidden: 'reader',
      once: true,
      answers: () => ({ status: 204 }),
    },
    [`GET ${sharedLinks}`]: { path: () => sharedLinks, forbidden: 'reader', answers: () => ({ status: 200, json: { sharedLinks: expect.any(Array) } }) },
    [`POST ${sharedLinks}`]: {
      path: () => sharedLinks,
      body: () => link('Rota'),
      forbidden: 'viewer',
      answers: () => ({ status: 201, headers: { etag: '"1"' } }),
    },
    [`PUT ${sharedLinks}/:id`]: {
      path: id => `${sharedLinks}/${id}`,
      make: () => anId(sharedLinks, link('Wiki')),
      body: () => ({ title: 'Handbook', order: 0 }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, headers: { etag: '"2"' }, json: { id, title: 'Handbook', order: 0, version: 2 } }),
    },
    [`DELETE ${sharedLinks}/:id`]: {
      path: id => `${sharedLinks}/${id}`,
      make: () => anId(sharedLinks, link('Wiki')),
      forbidden: 'viewer',
      once: true,
      answers: () => ({ status: 204 }),
    },
    [`GET ${announcements}`]: {
      path: () => announcements,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { announcements: expect.any(Array) } }),
    },
    [`POST ${announcements}`]: {
      path: () => announcements,
      body: () => ({ title: 'Stocktaking', body: 'The shop is closed on Monday.', severity: 'warning' }),
      forbidden: 'viewer',
      answers: () => ({ status: 201, headers: { etag: '"1"' }, json: { severity: 'warning', audience: 'organization', until: null } }),
    },
    [`PUT ${announcements}/:id`]: {
      path: id => `${announcements}/${id}`,
      make: anAnnouncement,
      body: () => ({ severity: 'critical' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, headers: { etag: '"2"' }, json: { id, severity: 'critical', dismissed: false } }),
    },
    [`DELETE ${announcements}/:id`]: {
      path: id => `${announcements}/${id}`,
      make: anAnnouncement,
      forbidden: 'viewer',
      once: true,
      answers: () => ({ status: 204 }),
    },
    [`POST ${announcements}/:id/dismissal`]: {
      path: id => `${announcements}/${id}/dismissal`,
      make: anAnnouncement,
      forbidden: 'reader',
      answers: () => ({ status: 204 }),
    },
    [`GET ${api}/search`]: {
      path: () => `${api}/search?q=handbook&first=5`,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { hits: expect.any(Array) } }),
    },
    [`GET ${settings}/person`]: {
      path: () => `${settings}/person`,
      forbidden: 'reader',
      answers: () => ({ status: 200, headers: { etag: '"0"' }, json: { theme: 'system', version: 0 } }),
    },
    [`PUT ${settings}/person`]: {
      path: () => `${settings}/person`,
      body: () => ({ theme: 'dark', locale: 'de-CH', timeZone: 'Europe/Zurich' }),
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { theme: 'dark', locale: 'de-CH', timeZone: 'Europe/Zurich', startPage: null, version: 1 } }),
    },
    [`GET ${settings}/organization`]: {
      path: () => `${settings}/organization`,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { supportUrl: null, version: 0 } }),
    },
    [`PUT ${settings}/organization`]: {
      path: () => `${settings}/organization`,
      body: () => ({ supportUrl: 'https://help.example/' }),
      forbidden: 'viewer',
      answers: () => ({ status: 200, headers: { etag: '"1"' }, json: { supportUrl: 'https://help.example/', version: 1 } }),
    },
  }
}

export const launcher: Exchanges = world => {
  const requests = `${api}/access-requests`
  const installation = (app: string) => `${api}/apps/${app}/installation`
  const anInstallation = async () => {
    await world().ask('owner', 'PUT', installation('time-sheet'))
    return 'time-sheet'
  }
  /** A pending request of the owner; one that pends is decided on first. */
  const aRequest = async () => {
    const ask = async () => (await world().ask('owner', 'POST', requests, { app: 'help-desk', reason: 'For questions of customers' })).json.id as string
    await world().ask('owner', 'POST', `${requests}/${await ask()}/decision`, { decision: 'decline' })
    return ask()
  }
  const leads = `${api}/leads`
  /** A message of a visitor, past the challenge. */
  const aLead = async () => {
    const { graph } = world()
    const job = graph.platform.launcher.job('anonymous')
    const now = graph.clock.now()
    const lead = { kind: 'CONTACT' as const, name: 'Vera Visitor', email: 'vera@example.com', message: 'Please call me.', topic: 'Prices', page: '/pricing' }
    const row = await inTransaction(job, ({ transaction }) =>
      job.leads.insert({ id: newId(now), ...lead, createdAt: now, updatedAt: now, createdBy: 'anonymous' }, transaction),
    )
    return row.id
  }
  const launches = `${api}/launches`
  const aLaunch = async () => (await world().ask('owner', 'POST', launches, { app: 'launcher', source: 'catalogue' })).json.id as string
  const workflows = `${api}/workflows`
  const steps = [
    { kind: 'link', title: 'Look', url: 'https://example.test/board' },
    { kind: 'launch', title: 'Begin', app: 'launcher', returnTo: '/actions' },
  ]
  const round = { name: 'Morning round', shared: true, steps }
  const aWorkflow = async () => (await world().ask('owner', 'POST', workflows, round)).json.id as string
  const actions = `${api}/actions`
  const notifications = `${api}/notifications`
  const unknown = newId()
  let known = unknown
  /** An open item of the owner's organization. */
  const anItem = async () => {
    known = (await seedAttention(world().graph, { organizationId: world().organizationId, title: 'A post for X failed' })).id
    return known
  }
  const onItem = (name: string, body: (() => object) | undefined, shown: object, forbidden: Who = 'reader') => ({
    [`POST ${actions}/:id/${name}`]: {
      path: (id: string) => `${actions}/${id}/${name}`,
      make: anItem,
      ...(body && { body }),
      forbidden,
      answers: (id: string) => ({ status: 200, json: { id, ...shown } }),
    },
  })
  const items = [{ app: 'publishing', order: 0, size: 'large', hidden: false }]
  const boards = [{ name: 'Money', items: [{ app: 'payments' }] }]
  return {
    ...links(world),
    [`GET ${actions}`]: { path: () => `${actions}?status=open,snoozed`, forbidden: 'reader', answers: list('actions') },
    [`GET ${actions}/:id`]: {
      path: id => `${actions}/${id}`,
      make: anItem,
      forbidden: 'reader',
      answers: id => ({ status: 200, headers: { etag: expect.any(String) }, json: { id, app: 'publishing', severity: 'high', status: 'open' } }),
    },
    ...onItem('complete', () => ({ note: 'Posted by hand' }), { status: 'done' }),
    ...onItem('reopen', undefined, { status: 'open' }),
    ...onItem('snooze', () => ({ until: world().graph.clock.in(3_600_000).toISOString() }), { status: 'snoozed' }),
    ...onItem('assign', () => ({ assigneeId: world().owner.userId }), { status: 'open' }),
    [`POST ${actions}/complete`]: {
      path: () => `${actions}/complete`,
      body: () => ({ ids: [known, unknown] }),
      forbidden: 'reader',
      answers: () => ({
        status: 200,
        json: {
          succeeded: 1,
          failed: 1,
          results: [
            { id: known, error: null },
            { id: unknown, item: null, error: { code: 'NOT_FOUND' } },
          ],
        },
      }),
    },
    [`GET ${notifications}`]: {
      path: () => notifications,
      forbidden: 'reader',
      answers: list('notifications'),
    },
    [`GET ${notifications}/preferences`]: {
      path: () => `${notifications}/preferences`,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { timeZone: expect.any(String), digest: { frequency: 'off' } } }),
    },
    [`PUT ${notifications}/preferences`]: {
      path: () => `${notifications}/preferences`,
      body: () => ({
        ...{ timeZone: 'Europe/Berlin', quietHours: { from: '22:00', to: '07:00' } },
        rules: [{ app: 'payments', kind: 'order.paid', inApp: false, email: false, push: false }],
      }),
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { timeZone: 'Europe/Berlin', quietHours: { from: '22:00', to: '07:00' } } }),
    },
    [`POST ${notifications}/digest`]: {
      path: () => `${notifications}/digest`,
      async make() {
        const [alone] = await world().graph.rows<{ id: string }>(`select id from identity.users where email = 'alone@test.test'`)
        return (await seedAttention(world().graph, { organizationId: null, audience: 'person', userId: alone!.id })).id
      },
      forbidden: 'reader',
      by: 'alone',
      answers: () => ({ status: 200, json: { sent: true, openItems: 1, unreadNotifications: 0 } }),
    },
    [`POST ${notifications}/read`]: {
      path: () => `${notifications}/read`,
      body: () => ({ all: true }),
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { unread: expect.any(Number) } }),
    },
    [`POST ${notifications}/archive`]: {
      path: () => `${notifications}/archive`,
      body: () => ({ all: true }),
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { unread: 0 } }),
    },
    [`POST ${subscriptions}`]: {
      path: () => subscriptions,
      body: () => browser,
      forbidden: 'reader',
      answers: () => ({ status: 201, json: { id: expect.any(String) } }),
    },
    [`DELETE ${subscriptions}/:id`]: {
      path: id => `${subscriptions}/${id}`,
      make: async () => (await world().ask('owner', 'POST', subscriptions, { ...browser, endpoint: 'https://push.example/send/2' })).json.id as string,
      forbidden: 'reader',
      once: true,
      answers: () => ({ status: 204 }),
    },
    [`GET ${api}/apps`]: { path: () => `${api}/apps`, forbidden: 'reader', answers: list('apps') },
    [`GET ${api}/apps/:app`]: {
      path: () => `${api}/apps/agents`,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { app: 'agents', origin: 'platform', launchable: true, entitled: false } }),
    },
    [`PUT ${api}/apps/:app/installation`]: {
      path: () => installation('stock-count'),
      forbidden: 'viewer',
      answers: () => ({ status: 200, headers: { etag: '"1"' }, json: { app: 'stock-count', context: 'organization', removedAt: null } }),
    },
    [`DELETE ${api}/apps/:app/installation`]: {
      path: installation,
      make: anInstallation,
      forbidden: 'viewer',
      once: true,
      answers: () => ({ status: 204 }),
    },
    [`GET ${api}/installations`]: {
      path: () => `${api}/installations`,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { installations: expect.any(Array) } }),
    },
    [`GET ${requests}`]: { path: () => requests, forbidden: 'reader', answers: list('accessRequests') },
    [`POST ${requests}`]: {
      path: () => requests,
      body: () => ({ app: 'shift-planner', reason: 'For the stocktaking' }),
      forbidden: 'reader',
      answers: () => ({ status: 201, json: { app: 'shift-planner', status: 'pending', reason: 'For the stocktaking' } }),
    },
    [`POST ${requests}/:id/decision`]: {
      path: id => `${requests}/${id}/decision`,
      make: aRequest,
      body: () => ({ decision: 'decline', comment: 'We have another one' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'declined', comment: 'We have another one' } }),
    },
    [`POST ${requests}/:id/withdrawal`]: {
      path: id => `${requests}/${id}/withdrawal`,
      make: aRequest,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, status: 'withdrawn' } }),
    },
    [`GET ${leads}`]: { path: () => leads, make: aLead, by: 'super', forbidden: 'owner', answers: list('leads') },
    [`GET ${leads}/:id`]: {
      path: id => `${leads}/${id}`,
      make: aLead,
      by: 'super',
      forbidden: 'owner',
      answers: id => ({ status: 200, headers: { etag: '"1"' }, json: { id, kind: 'contact', status: 'new', email: 'vera@example.com' } }),
    },
    [`PUT ${leads}/:id`]: {
      path: id => `${leads}/${id}`,
      make: aLead,
      body: () => ({ status: 'open', note: 'Called back' }),
      by: 'super',
      forbidden: 'owner',
      answers: id => ({ status: 200, headers: { etag: '"2"' }, json: { id, status: 'open', note: 'Called back' } }),
    },
    [`GET ${launches}`]: { path: () => launches, forbidden: 'reader', answers: list('launches') },
    [`GET ${launches}/:id`]: {
      path: id => `${launches}/${id}`,
      make: aLaunch,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, app: 'launcher', status: 'ready', source: 'catalogue', steps: [], failure: null } }),
    },
    [`POST ${launches}`]: {
      path: () => launches,
      body: () => ({ app: 'launcher', source: 'switcher', returnTo: '/actions' }),
      forbidden: 'reader',
      answers: () => ({ status: 201, headers: { 'cache-control': 'no-store' }, json: { app: 'launcher', status: 'ready', steps: [{ kind: 'web' }] } }),
    },
    [`POST ${launches}/:id/report`]: {
      path: id => `${launches}/${id}/report`,
      make: async () => (await world().ask('owner', 'POST', launches, { app: 'launcher', source: 'widget' })).json.id as string,
      body: () => ({ outcome: 'failed', message: 'The window was blocked' }),
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, status: 'failed', failure: { code: 'CLIENT_FAILED', retryable: true } } }),
    },
    [`GET ${workflows}`]: { path: () => workflows, forbidden: 'reader', answers: list('workflows') },
    [`GET ${workflows}/:id`]: {
      path: id => `${workflows}/${id}`,
      make: aWorkflow,
      forbidden: 'reader',
      answers: id => ({ status: 200, headers: { etag: '"1"' }, json: { id, name: 'Morning round', shared: true } }),
    },
    [`POST ${workflows}`]: { path: () => workflows, body: () => round, forbidden: 'reader', answers: made(workflows) },
    [`PUT ${workflows}/:id`]: {
      path: id => `${workflows}/${id}`,
      make: aWorkflow,
      body: () => ({ name: 'Evening round' }),
      forbidden: 'reader',
      answers: id => ({ status: 200, headers: { etag: '"2"' }, json: { id, name: 'Evening round' } }),
    },
    [`DELETE ${workflows}/:id`]: { path: id => `${workflows}/${id}`, make: aWorkflow, forbidden: 'reader', once: true, answers: () => ({ status: 204 }) },
    [`POST ${workflows}/:id/run`]: {
      path: id => `${workflows}/${id}/run`,
      make: aWorkflow,
      body: () => ({ position: 1 }),
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { position: 1, kind: 'link', url: 'https://example.test/board', next: 2, launch: null } }),
    },
    [`GET ${api}/layout`]: { path: () => `${api}/layout`, forbidden: 'reader', answers: () => ({ status: 200, json: { items: expect.any(Array) } }) },
    [`PUT ${api}/layout`]: {
      path: () => `${api}/layout`,
      body: () => ({ items, boards }),
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { items, boards: [{ name: 'Money' }], inherited: false } }),
    },
    [`DELETE ${api}/layout`]: { path: () => `${api}/layout`, forbidden: 'reader', answers: () => ({ status: 200, json: { items: [], inherited: true } }) },
    [`GET ${api}/layout/organization`]: {
      path: () => `${api}/layout/organization`,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { items: expect.any(Array), inherited: false } }),
    },
    [`PUT ${api}/layout/organization`]: {
      path: () => `${api}/layout/organization`,
      body: () => ({ items: [] }),
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { items: [], inherited: false } }),
    },
  }
}
