import { newId } from '../../../../platform/ids.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { type AccessRows, all, change, row, unrelated } from '../../../access/row.ts'
import { subjectAndManagers } from '../person-profile/access.ts'

const path = ({ profile }: Readonly<Record<string, string>>) => `/agents/api/person-profiles/${profile}/sources`

export const access: AccessRows = {
  async made({ graph, owner, ids }) {
    const now = graph.clock.now()
    const [id, job] = [newId(now), graph.platform.agents.job('sources')]
    const failure = { code: 'EMPTY', message: 'There is nothing.' } as const
    const stamps = { createdAt: now, updatedAt: now, createdBy: `user:${owner.userId}` }
    await inTransaction(job, ({ transaction }) =>
      job.profileSources.insert(
        { profileId: ids.profile!, id, kind: 'URL', title: 'A page', url: 'https://page.test', status: 'FAILED', failure, ...stamps },
        transaction,
      ),
    )
    return { failedSource: id }
  },
  fields: [
    row('Query.profileSource', all, unrelated, subjectAndManagers, ids => `{ profileSource(id: "${ids.profileSource}") { id } }`, 'profileSource'),
    row(
      'ProfileSource.failure',
      all,
      unrelated,
      subjectAndManagers,
      ids => `{ profileSource(id: "${ids.failedSource}") { failure { code } } }`,
      'profileSource.failure',
    ),
    row(
      'Mutation.createProfileSource',
      all,
      unrelated,
      subjectAndManagers,
      change('createProfileSource', ({ profile }) => `personProfileId: "${profile}", kind: POST, title: "New", text: "New."`, 'id'),
      'createProfileSource',
    ),
  ],
  routes: [
    { at: 'GET /agents/api/person-profiles/:id/sources', scopes: all, less: unrelated, cells: subjectAndManagers, path },
    {
      at: 'POST /agents/api/person-profiles/:id/sources',
      scopes: all,
      less: unrelated,
      cells: subjectAndManagers,
      path,
      body: () => ({ kind: 'post', title: 'New', text: 'New.' }),
    },
  ],
}
