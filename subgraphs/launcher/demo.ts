import { idOfName } from '../../platform/ids.ts'
import { write } from '../store/write.ts'
import { lineOf, writeRequest } from './catalog/access-request/request.ts'
import { demoOffers, provideBundle } from './catalog/commerce/demo.ts'
import { announceInstalled, install } from './catalog/installation/install.ts'
import type { Job } from './context.ts'
import { provideHousehold } from './dashboard/household/demo.ts'
import type { WorkflowStep } from './stores/workflow.ts'

/** Apps of the platform that the demo organization has installed. */
const installed = ['publishing', 'agents', 'payments', 'providers'] as const

/** The sandbox's apps with a widget for organizations. */
export const widgetApps = [
  ...['route-finder', 'stock-count', 'field-survey', 'shift-planner', 'invoice-scanner', 'time-sheet', 'menu-board', 'help-desk', 'guest-list'],
  'team-board',
] as const

/** What a member of the demo organization asks for. */
const asked = { app: 'help-desk', name: 'Mia Member', reason: 'For the questions that customers mail to us' } as const

export interface DemoPlace {
  readonly organizationId: string
  readonly userId: string
  /** The member who asks for an app. */
  readonly memberId: string
  /** The other organization. */
  readonly otherId: string
  /** The platform's own organization. */
  readonly adminId: string
  readonly sandbox: string
  /** Key of the platform at the sandbox's payment processor. */
  readonly processorKey: string
}

/** Tells the sandbox's developer platform which organization owns a custom app. */
async function introduce({ outbound }: Job, { sandbox, organizationId }: DemoPlace): Promise<void> {
  const body = JSON.stringify({ network: 'developers', object: 'organization', slug: 'demo', id: organizationId })
  await outbound(`${sandbox}/_control/objects`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

async function provideInstallation(job: Job, app: string, organizationId: string, userId: string): Promise<void> {
  const entry = await job.catalogEntries.ofApp(app)
  if (!entry) return
  const installer = { owner: { organizationId, userId: null }, userId, actor: `user:${userId}` }
  await write(job, { run: unit => install(job, entry, installer, unit), announce: made => announceInstalled(job, made) })
}

/** Requests an app once; a start after the decision does not repeat it. */
async function provideRequest(job: Job, { organizationId, memberId }: DemoPlace): Promise<void> {
  const { app, name, reason } = asked
  const entry = await job.catalogEntries.ofApp(app)
  const earlier = await job.accessRequests.page('ofOrganization', organizationId, { first: 100 })
  if (!entry || earlier.nodes.some(request => request.app === app)) return
  const requester = { organizationId, userId: memberId, name, reason, actor: `user:${memberId}` }
  await write(job, {
    run: unit => writeRequest(job, entry, requester, unit),
    audit: ({ row }) => ({ ...lineOf('access_request.created', row), actor: requester.actor }),
    announce: ({ announce }) => announce?.(),
  })
}

const none = { app: null, returnTo: null, actionKind: null, url: null } as const

/** What the demo organization goes through in the morning. */
const round: { readonly name: string; readonly steps: readonly WorkflowStep[] } = {
  name: 'Morning round',
  steps: [
    { ...none, kind: 'LAUNCH', title: 'See what is planned for today', app: 'publishing', returnTo: '/calendar' },
    { ...none, kind: 'ACTION', title: 'Mend what failed', actionKind: 'POST_FAILED' },
    { ...none, kind: 'LAUNCH', title: 'Look after orders', app: 'payments', returnTo: '/orders' },
  ],
}

async function provideWorkflow(job: Job, { organizationId, userId }: DemoPlace): Promise<void> {
  const id = idOfName(organizationId, `workflow ${round.name}`)
  await write(job, {
    async run({ transaction, now }) {
      if (await job.workflows.lock(id, transaction)) return null
      const stamps = { createdAt: now, updatedAt: now, createdBy: `user:${userId}` }
      return job.workflows.insert({ id, organizationId, userId, shared: true, ...round, ...stamps }, transaction)
    },
  })
}

/** Completes the onboarding of an organization once. */
async function provideOnboarding(job: Job, id: string, userId: string): Promise<void> {
  await write(job, {
    async run({ transaction, now }) {
      if (await job.onboardings.lockOf(id, transaction)) return
      const stamps = { completedAt: now, createdAt: now, updatedAt: now, createdBy: `user:${userId}` }
      await job.onboardings.insert({ id, apps: [], ...stamps }, transaction)
    },
  })
}

/** Creates missing demo data: a bundle and a free workspace, installed apps of both organizations, a request for another one, a shared workflow, and a household. */
export async function provideDemo(job: Job, place: DemoPlace): Promise<void> {
  const { organizationId, userId, otherId, adminId } = place
  for (const id of [organizationId, otherId, adminId]) await provideOnboarding(job, id, userId)
  await provideHousehold(job, place)
  await introduce(job, place)
  await job.catalog.refresh()
  const { sandbox, processorKey: key } = place
  await provideBundle(job, { sandbox, key }, { ownerType: 'ORGANIZATION', ownerId: organizationId }, demoOffers.everything)
  await provideBundle(job, { sandbox, key }, { ownerType: 'ORGANIZATION', ownerId: otherId }, demoOffers.freeWorkspace)
  for (const app of installed) await provideInstallation(job, app, organizationId, userId)
  await provideInstallation(job, 'publishing', otherId, userId)
  await provideRequest(job, place)
  await provideWorkflow(job, place)
}
