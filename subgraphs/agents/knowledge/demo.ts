import { idOfName } from '../../../platform/ids.ts'
import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import type { KnowledgeAction } from '../stores/knowledge/knowledge-source.ts'

const page = 'https://demo.example/handbook'
const app = 'supergraph://handbook'

const actions: readonly KnowledgeAction[] = [{ kind: 'DEEP_LINK', label: 'Open the handbook', url: page, iosUrl: app, androidUrl: app }]

/** What the demo's agents answer from: a page that everybody may read, and notes of the organization. */
const sources = [
  {
    title: 'Demo handbook',
    text: [
      'Opening hours. The front desk is open from nine in the morning to five in the afternoon, Monday to Friday.',
      'Trials. A trial lasts 14 days and needs no card. It ends by itself.',
      'Refunds. Money is returned within five working days to the card that paid.',
      'Help. Write to the front desk, and a person answers within one working day.',
    ].join('\n\n'),
    place: { visibility: 'PUBLIC', url: page, actions },
  },
  {
    title: 'Demo notes',
    text: 'The project moonshot moves the calendar to its own service. It begins in spring, and nobody outside knows of it yet.',
    place: { visibility: 'ORGANIZATION', url: null, actions: [] },
  },
] as const

/** Adds the demo's knowledge sources, unless they are there. They are indexed as all others are. @param job in the owner's name */
export async function provideDemoKnowledge(job: Job, { organizationId, userId }: { readonly organizationId: string; readonly userId: string }): Promise<void> {
  await inTransaction(job, async ({ transaction, now }) => {
    // A process that starts at the same moment waits here and finds them.
    await job.personProfiles.lockMaking(organizationId, transaction)
    for (const { title, text, place } of sources) {
      const id = idOfName(organizationId, title)
      if (await job.knowledgeSources.lock(id, transaction)) continue
      await job.knowledgeSources.givePending(id, text, transaction)
      const stamps = { createdAt: now, updatedAt: now, createdBy: `user:${userId}` }
      await job.knowledgeSources.insert({ id, organizationId, title, kind: 'TEXT', language: 'en', ...place, indexAt: now, ...stamps }, transaction)
    }
  })
  job.indexing.soon()
}
